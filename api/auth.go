package api

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"toolgym/api/lab"
	"toolgym/internal/refusal"
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

// The roles that a token can have. A request needs a token as soon as the
// server has any; what it may do beyond looking at environments and tasks, its
// roles say.
const (
	Play  = "play"  // episodes, tools, MCP, acting with a policy
	Score = "score" // parsing, scoring, audits, trainer scripts
	Train = "train" // policy runs and evaluations
	Admin = "admin" // all of that, other people's episodes and runs, metrics
)

// A Token names a holder and what the holder may do. The secret itself is
// nowhere on the server: only its SHA-256 is, which is enough, since the secret
// is drawn at random with 130 bits and not made up by a person.
type Token struct {
	Name  string
	Roles []string
	Hash  [sha256.Size]byte
}

// Issue draws a new secret and returns it, with the token to be kept. A name or
// a role that makes no sense is an [*tools.Error] with code invalid.
func Issue(name string, roles ...string) (secret string, token Token, err error) {
	secret = "tg_" + rand.Text()
	token = Token{Name: name, Roles: roles, Hash: sha256.Sum256([]byte(secret))}
	return secret, token, token.validate()
}

// String is the token's line in a token file, name:role[,role]:sha256-hex.
func (t Token) String() string {
	return t.Name + ":" + strings.Join(t.Roles, ",") + ":" + hex.EncodeToString(t.Hash[:])
}

// ParseTokens reads a token file: a line a token, as String writes it; empty
// lines and those that begin with # are left out. What is wrong is an
// [*tools.Error] with code invalid, which names the line and quotes none of it.
func ParseTokens(r io.Reader) ([]Token, error) {
	var list []Token
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		token, err := parseToken(line)
		if err == nil {
			err = repeated(list, token)
		}
		if err != nil {
			return nil, refusal.Move(fmt.Sprintf("line %d", n), err)
		}
		list = append(list, token)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading tokens: %w", err)
	}
	return list, nil
}

func parseToken(line string) (Token, error) {
	parts := strings.Split(line, ":")
	if len(parts) != 3 {
		return Token{}, refusal.New("", "name:role[,role]:sha256-hex", "%d parts between colons", len(parts))
	}
	token := Token{Name: parts[0], Roles: strings.Split(parts[1], ",")}
	hash, err := hex.DecodeString(parts[2])
	if err != nil || len(hash) != sha256.Size {
		return Token{}, refusal.New("", "64 hexadecimal digits, as toolgym token prints them", "the third part is no SHA-256")
	}
	copy(token.Hash[:], hash)
	return token, token.validate()
}

func repeated(list []Token, token Token) error {
	for _, other := range list {
		if other.Name == token.Name || other.Hash == token.Hash {
			return refusal.New("", "each once", "the name or the hash stands there already")
		}
	}
	return nil
}

// validate reports a name that does not fit into a log line, and unknown roles.
func (t Token) validate() error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`).MatchString(t.Name) {
		return refusal.New("name", "up to 64 letters, digits, _ . and -", "%.80q is no name", t.Name)
	}
	if len(t.Roles) == 0 {
		return refusal.New("roles", "some of play, score, train, admin", "there is no role")
	}
	for i, role := range t.Roles {
		if !slices.Contains([]string{Play, Score, Train, Admin}, role) || slices.Contains(t.Roles[:i], role) {
			return refusal.New("roles", "some of play, score, train, admin, each once", "%.80q is no role, or stands twice", role)
		}
	}
	return nil
}

// holder finds the token that a secret belongs to. It takes the same time
// whichever it is, and if there is none.
func holder(tokens []Token, secret string) (found Token, ok bool) {
	hash := sha256.Sum256([]byte(secret))
	at := -1
	for i := range tokens {
		same := subtle.ConstantTimeCompare(hash[:], tokens[i].Hash[:])
		at = subtle.ConstantTimeSelect(same, i, at)
	}
	if at < 0 {
		return Token{}, false
	}
	return tokens[at], true
}

var _ fmt.Stringer = Token{}

// A caller is who sends a request.
type caller struct {
	name  string // of the token; empty without
	roles []string
}

// may reports whether the caller has a role.
func (c caller) may(role string) bool {
	return slices.Contains(c.roles, role) || slices.Contains(c.roles, Admin)
}

// owns reports whether what belongs to the owner is the caller's to use.
func (c caller) owns(owner string) bool {
	return slices.Contains(c.roles, Admin) || len(c.roles) > 0 && c.name == owner
}

// known reports whether the caller has shown a token, or needs none.
func (c caller) known() bool { return len(c.roles) > 0 }

// refusal is the answer to a caller that lacks a role.
func (c caller) refusal(role string) *failure {
	if !c.known() {
		return unauthorized("this needs a token")
	}
	return fail(http.StatusForbidden, fmt.Sprintf("the token %s may not do this; expected one with the role %s", c.name, role))
}

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
