package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// onError answers for everything that does not come out of a route: an unknown
// path, a wrong method, a refusal of the guards, a panic.
func (s *Server) onError(err error, c echo.Context) {
	ctx := c.Request().Context()
	x := exchangeOf(ctx)
	if x.failed { // Echo comes here again with the error that the logger has come with
		return
	}
	x.failed = true
	f := httpFailure(err, c.Response().Header())
	if f == nil && hungUp(ctx) {
		return
	}
	if f == nil {
		f = asFault(ctx, err)
	}
	if f.fault != nil {
		exchangeOf(ctx).fault = f.fault
	}
	switch {
	case c.Response().Committed: // it must not look whole: its end cannot be sent any more
		_ = http.NewResponseController(c.Response().Writer).SetWriteDeadline(time.Unix(1, 0))
	case s.lab != nil && readsPages(c.Request()) && !strings.HasPrefix(c.Request().URL.Path, "/v1/"):
		if f.Status == http.StatusInternalServerError {
			f.Detail += " " + exchangeOf(ctx).id
		}
		if s.showFailure(c, f) == nil {
			return
		}
		fallthrough // the page itself is what fails
	default:
		write(c, f)
	}
}

// httpFailure is the document of an error that HTTP knows, or nil.
func httpFailure(err error, header http.Header) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	e, ok := errors.AsType[*echo.HTTPError](err)
	if !ok || e.Code >= 500 {
		return nil
	}
	switch e.Code {
	case http.StatusNotFound:
		return fail(e.Code, "there is nothing at this path; /docs lists what there is")
	case http.StatusMethodNotAllowed:
		allowHead(header)
		return fail(e.Code, "this path does not take the method; expected one of "+header.Get(echo.HeaderAllow))
	}
	return fail(e.Code, http.StatusText(e.Code))
}

// allowHead adds HEAD to the methods of a path that Echo lists: GET routes answer it.
func allowHead(header http.Header) {
	allow := header.Get(echo.HeaderAllow)
	if strings.Contains(allow, http.MethodGet) && !strings.Contains(allow, http.MethodHead) {
		header.Set(echo.HeaderAllow, allow+", "+http.MethodHead)
	}
}

// edgeFailure is failureOf for the handlers that are Echo's own.
func edgeFailure(err error) error {
	if f := failureOf(nil, err); f != nil {
		return f
	}
	return err
}

// asFault keeps an error of ours or of the outside's for the log and makes the
// document that the client sees in its place.
func asFault(ctx context.Context, err error) *failure {
	exchangeOf(ctx).fault = err
	return fail(http.StatusInternalServerError, seeLog)
}

// seeLog is all that a client hears of a fault of ours.
const seeLog = "the server could not do this; its log says why, under the request id"

// hungUp reports whether the client has gone, so that nothing that fails while
// answering it is worth an alarm.
func hungUp(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// write sends a problem document. That the client may be gone by now is
// not an error.
func write(c echo.Context, f *failure) {
	header := c.Response().Header()
	maps.Copy(header, f.header)
	header.Set(echo.HeaderContentType, problemType)
	f.RequestID = exchangeOf(c.Request().Context()).id
	c.Response().WriteHeader(f.Status)
	encoder := json.NewEncoder(c.Response())
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(f.Problem)
}
