package lab

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// mostDrained is how much of a body that is too large is still taken off the
// wire: a browser shows the answer only when it has sent all.
const mostDrained = 64 << 20

// sent reads a form that was posted, within the server's limit of bodies. The
// error is an [*tools.Error]: too_large, or invalid.
func (l *Lab) sent(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, l.config.MaxBody+1))
	timeout := net.Error(nil)
	switch {
	case int64(len(text)) > l.config.MaxBody:
		_, _ = io.CopyN(io.Discard, r.Body, mostDrained)
		return nil, &tools.Error{Code: tools.TooLarge, Message: fmt.Sprintf("what was sent is over %s, which is the limit of this server", bytesOf(l.config.MaxBody)), Want: "less text"}
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, refusal.New("", "", "the form took too long to arrive")
	case err != nil:
		return nil, refusal.New("", "", "the form broke off")
	}
	// The server's deadline for reading would end what takes longer; see package api.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a writer without deadlines has none to lift
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, refusal.New("", "application/x-www-form-urlencoded", "what was sent is no form")
	}
	return form, nil
}

// bytesOf writes a size for people.
func bytesOf(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	if n >= 1<<10 && n%(1<<10) == 0 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
