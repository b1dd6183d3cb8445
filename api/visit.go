package api

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"toolgym/api/lab"
)

// Visits are the browsers that are signed in. A browser cannot send a token
// with every page and picture, so it shows one once and gets a cookie in its
// place: drawn at random, kept as a hash, and worth nothing after a restart.
type visits struct {
	now func() time.Time

	mu      sync.Mutex
	byID    map[[sha256.Size]byte]visit
	byToken map[string][][sha256.Size]byte // ids by the token's name, the oldest first
}

type visit struct {
	token Token
	until time.Time
}

const (
	visitCookie = "toolgym_visit"
	visitLength = 12 * time.Hour
	// tokenVisits is how many browsers may be signed in with one token.
	tokenVisits = 32
)

func newVisits(now func() time.Time) *visits {
	return &visits{now: now, byID: map[[sha256.Size]byte]visit{}, byToken: map[string][][sha256.Size]byte{}}
}

// begin signs a browser in and returns its cookie's value. A token that has
// tokenVisits already loses its oldest one; visits of other tokens stay.
func (v *visits) begin(token Token) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, id := range v.byToken[token.Name] {
		if !v.byID[id].until.After(v.now()) {
			v.drop(id)
		}
	}
	if own := v.byToken[token.Name]; len(own) >= tokenVisits {
		v.drop(own[0])
	}
	secret := rand.Text()
	id := sha256.Sum256([]byte(secret))
	v.byID[id] = visit{token, v.now().Add(visitLength)}
	v.byToken[token.Name] = append(v.byToken[token.Name], id)
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
	v.drop(sha256.Sum256([]byte(secret)))
}

// drop removes a visit. It is called with mu held.
func (v *visits) drop(id [sha256.Size]byte) {
	name := v.byID[id].token.Name
	delete(v.byID, id)
	own := slices.DeleteFunc(slices.Clone(v.byToken[name]), func(other [sha256.Size]byte) bool { return other == id })
	if v.byToken[name] = own; len(own) == 0 {
		delete(v.byToken, name)
	}
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
// path and nothing else, in visible ASCII characters as addresses are sent.
func here(next string) string {
	unfit := func(c rune) bool { return c <= ' ' || c > '~' || c == '\\' } // browsers read these in their own ways
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsFunc(next, unfit) {
		return "/"
	}
	return next
}
