package api

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"toolgym/api/lab"
)

// Visits are the browsers that are signed in. A browser can not send a token
// with every page and picture, so it shows one once and gets a cookie in its
// place: drawn at random, kept as a hash, and worth nothing after a restart.
type visits struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[[sha256.Size]byte]visit
}

type visit struct {
	token Token
	until time.Time
}

const (
	visitCookie = "toolgym_visit"
	visitLength = 12 * time.Hour
	mostVisits  = 1000
)

func newVisits(now func() time.Time) *visits {
	return &visits{now: now, byID: map[[sha256.Size]byte]visit{}}
}

// begin signs a browser in and returns its cookie's value. Of too many visits
// the one that would end first makes room.
func (v *visits) begin(token Token) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	now, first := v.now(), [sha256.Size]byte{}
	for id, other := range v.byID {
		if !other.until.After(now) {
			delete(v.byID, id)
		} else if other.until.Before(v.byID[first].until) || v.byID[first].until.IsZero() {
			first = id
		}
	}
	if len(v.byID) >= mostVisits {
		delete(v.byID, first)
	}
	secret := rand.Text()
	v.byID[sha256.Sum256([]byte(secret))] = visit{token, now.Add(visitLength)}
	return secret
}

// find returns the token behind a cookie.
func (v *visits) find(secret string) (Token, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.byID[sha256.Sum256([]byte(secret))]
	return found.token, ok && found.until.After(v.now())
}

func (v *visits) end(secret string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.byID, sha256.Sum256([]byte(secret)))
}

// signInRoutes are the page that asks for a token, and what its forms send.
func (s *Server) signInRoutes(pages *lab.Lab) {
	s.echo.GET("/lab/signin", func(c echo.Context) error {
		return pages.SignIn(c.Response(), c.Request(), http.StatusOK, here(c.QueryParam("next")), "")
	})
	s.echo.POST("/lab/signin", func(c echo.Context) error {
		r := c.Request()
		r.Body = http.MaxBytesReader(c.Response(), r.Body, 4096)
		token, ok := holder(s.config.Tokens, r.PostFormValue("token"))
		next := here(r.PostFormValue("next"))
		if !ok {
			return pages.SignIn(c.Response(), r, http.StatusUnauthorized, next, "This token is not known.")
		}
		c.SetCookie(s.cookie(s.visits.begin(token), visitLength))
		return c.Redirect(http.StatusSeeOther, next)
	})
	s.echo.POST("/lab/signout", func(c echo.Context) error {
		if cookie, err := c.Cookie(visitCookie); err == nil {
			s.visits.end(cookie.Value)
		}
		c.SetCookie(s.cookie("", -time.Second))
		return c.Redirect(http.StatusSeeOther, "/lab/signin")
	})
}

// cookie is one that scripts do not see and that no other site's page sends.
func (s *Server) cookie(value string, age time.Duration) *http.Cookie {
	return &http.Cookie{Name: visitCookie, Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.config.CertFile != ""}
}

// here is an address of this server to go on to: the first page, unless it is a
// path and nothing else.
func here(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
