package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// unhurried lifts the limits of time where a GET opens a stream or an export,
// which may take as long as it needs. A client that does not read for
// Config.BodyTimeout loses the connection, and what the request holds is freed.
func (s *Server) unhurried(c echo.Context) {
	if c.Request().Method != http.MethodGet {
		return
	}
	control := http.NewResponseController(c.Response().Writer)
	_ = control.SetReadDeadline(time.Time{}) // a ResponseWriter without deadlines has none to lift
	c.Response().Writer = &pacedWriter{ResponseWriter: c.Response().Writer, control: control, most: s.config.BodyTimeout}
}

// A pacedWriter gives each write a time limit of its own.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	most    time.Duration
}

// Write writes within the time limit.
func (w *pacedWriter) Write(text []byte) (int, error) {
	w.pace()
	return w.ResponseWriter.Write(text)
}

// FlushError flushes within the time limit.
func (w *pacedWriter) FlushError() error {
	w.pace()
	return w.control.Flush()
}

// pace sets the limit of the next write. The limits are the connection's, and go
// by the clock of the machine.
func (w *pacedWriter) pace() { _ = w.control.SetWriteDeadline(time.Now().Add(w.most)) }

// Unwrap returns the writer inside, for [http.ResponseController].
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
