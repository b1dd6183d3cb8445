package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"
)

// public is the role of a route that answers everybody.
const public = "public"

// authenticated finds out who sends a request. A secret that is not known is
// refused wherever it is sent to; whether one is needed, the route says.
//
// The secret comes as "Authorization: Bearer" or as X-API-Key, once, and never
// in the URL, which ends up in logs. A browser that has signed in sends the
// cookie of its visit in its place.
func (s *Server) authenticated(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		who := &exchangeOf(c.Request().Context()).caller
		if len(s.config.Tokens) == 0 {
			who.roles = []string{Admin} // any client of this machine
			return next(c)
		}
		secret, refusal := secretOf(c.Request().Header)
		if refusal != nil {
			return refusal
		}
		token, ok := Token{}, false
		if secret != "" {
			if token, ok = holder(s.config.Tokens, secret); !ok {
				return unauthorized("the token is not known")
			}
		} else if cookie, err := c.Cookie(visitCookie); err == nil {
			token, ok = s.visits.find(cookie.Value)
		}
		if !ok {
			return next(c)
		}
		who.name, who.roles = token.Name, token.Roles
		if wait := s.quotas.take(token.Name); wait > 0 {
			return fail(http.StatusTooManyRequests, "this token sends too many requests").after(wait)
		}
		return next(c)
	}
}

// secretOf takes the secret from the headers; it is empty when there is none.
func secretOf(header http.Header) (string, *failure) {
	given := append(header.Values(echo.HeaderAuthorization), header.Values("X-Api-Key")...)
	switch {
	case len(given) == 0:
		return "", nil
	case len(given) > 1:
		return "", unauthorized("there is more than one token")
	case len(header.Values(echo.HeaderAuthorization)) == 0:
		return given[0], nil
	}
	scheme, secret, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return "", unauthorized("the Authorization header is of another kind; expected Bearer and a token")
	}
	return secret, nil
}

// unauthorized asks for a token.
func unauthorized(detail string) *failure {
	f := fail(http.StatusUnauthorized, detail)
	f.header = http.Header{"Www-Authenticate": {`Bearer realm="toolgym"`}}
	return f
}

// admits lets those through who have the role that a route asks for. An empty
// role asks for any token.
func (s *Server) admits(role string) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		refusal := refusalOf(exchangeOf(ctx.Context()).caller, role)
		if refusal == nil {
			next(ctx)
			return
		}
		for name, values := range refusal.header {
			ctx.SetHeader(name, values[0])
		}
		_ = huma.WriteErr(s.api, ctx, refusal.Status, refusal.Detail)
	}
}

func refusalOf(who caller, role string) *failure {
	if role == public || role == "" && who.known() || role != "" && who.may(role) {
		return nil
	}
	return who.refusal(role)
}

// requires is admits for a route of Echo's own.
func requires(role string, handle echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if refusal := refusalOf(exchangeOf(c.Request().Context()).caller, role); refusal != nil {
			return refusal
		}
		return handle(c)
	}
}
