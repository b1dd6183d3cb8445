package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"toolgym/api/lab"
)

// labRoutes adds the pages of the lab. They are not in the document: programs
// have the resources that the pages use.
func (s *Server) labRoutes() error {
	var err error
	s.lab, err = lab.New(lab.Config{Specs: s.config.Specs, Scorer: s.scorer, Desk: &s.desk, MaxBody: s.config.MaxBody, CallTimeout: s.config.CallTimeout, Rubric: *s.config.Rubric, Runs: s.runs, Evals: s.labEvaluations(),
		Ollama: s.config.Ollama, Logger: s.config.Logger, Judged: s.logScores, Checkpoint: s.config.Checkpoint, Now: s.config.Now, Guarded: len(s.config.Tokens) > 0, Stopping: s.stopping,
		Events: s.shares.events, Share: s.config.TokenShare, Idle: s.config.StreamTimeout,
		Turn:  s.labTurn,
		Owner: func(ctx context.Context) string { return exchangeOf(ctx).caller.name },
		Owns:  func(ctx context.Context, owner string) bool { return exchangeOf(ctx).caller.owns(owner) }})
	if err != nil {
		return err
	}
	for _, route := range s.lab.Routes() {
		path := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(route.Path, ":$1")
		s.echo.Add(route.Method, path, s.weighedForm(s.page(route)))
	}
	if len(s.config.Tokens) > 0 {
		s.signInRoutes(s.lab)
	}
	return nil
}

// labTurn gives a page that computes its turn.
func (s *Server) labTurn(ctx context.Context) (end func(), err error) {
	turn := s.newTurn(ctx, s.config.CallTimeout)
	return turn.End, turn.Begin(ctx)
}

// page serves a route of the lab: who has no token yet is sent to the page that
// asks for one, and a refusal is a page as well, for those who read pages.
func (s *Server) page(route lab.Route) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		who := exchangeOf(r.Context()).caller
		if refusal := refusalOf(who, route.Role); refusal != nil {
			if refusal.Status == http.StatusUnauthorized && readsPages(r) {
				return c.Redirect(http.StatusSeeOther, "/lab/signin?next="+url.QueryEscape(r.URL.RequestURI()))
			}
			return s.showFailure(c, refusal)
		}
		for i, name := range c.ParamNames() {
			r.SetPathValue(name, c.ParamValues()[i])
		}
		err := route.Serve(c.Response(), r)
		if err == nil {
			return nil
		}
		if f := failureOf(nil, err); f != nil {
			return s.showFailure(c, f)
		}
		if errors.Is(err, context.DeadlineExceeded) && !hungUp(r.Context()) {
			return s.showFailure(c, fail(http.StatusServiceUnavailable, "the environment took too long").after(time.Second))
		}
		return err
	}
}

// readsPages reports whether a request comes from somebody who looks at its
// answer, and not from a script, which asks for problem documents.
func readsPages(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, problemType)
}

// showFailure writes a refusal as a page, for those who read pages.
func (s *Server) showFailure(c echo.Context, f *failure) error {
	if !readsPages(c.Request()) {
		return f
	}
	if f.fault != nil {
		exchangeOf(c.Request().Context()).fault = f.fault
	}
	maps.Copy(c.Response().Header(), f.header)
	detail := f.Detail
	if len(f.Errors) == 1 {
		detail = strings.TrimPrefix(f.Errors[0].Pointer, "#/") + f.Errors[0].Parameter + ": " + detail
	}
	return s.lab.Fail(c.Response(), c.Request(), f.Status, detail)
}
