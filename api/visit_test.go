package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

const (
	urlencoded = "Content-Type: application/x-www-form-urlencoded"
	asPage     = "Accept: text/html"
)

// signIn signs a browser in and returns the header that it sends from then on.
func (f *fixture) signIn(name string) string {
	f.t.Helper()
	got := f.ask("POST", "/lab/signin", url.Values{"token": {secretOf(name)}}.Encode(), urlencoded)
	cookie, rest, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if got.status != http.StatusSeeOther || cookie == "" {
		f.t.Fatalf("signing in: %d %v", got.status, got.header)
	}
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(rest, want) {
			f.t.Errorf("the cookie is without %s: %s", want, rest)
		}
	}
	if strings.Contains(cookie, secretOf(name)) {
		f.t.Error("the cookie has the secret of the token in it")
	}
	return "Cookie: " + cookie
}

func TestSigningIn(t *testing.T) {
	f := guarded(t, api.Config{Specs: tools.Specs{arithmetic.Spec()}})
	if got := f.ask("GET", "/?seed=3", "", asPage); got.status != http.StatusSeeOther || got.header.Get("Location") != "/lab/signin?next="+url.QueryEscape("/?seed=3") {
		t.Errorf("without a token: %d %v", got.status, got.header)
	}
	if got := f.ask("GET", "/lab/signin", "", asPage); got.status != http.StatusOK || !strings.Contains(got.body, `type="password"`) {
		t.Errorf("the page that asks: %d\n%s", got.status, got.body)
	}
	if got := f.ask("POST", "/lab/signin", "token=tg_NOBODYS", urlencoded); got.status != http.StatusUnauthorized || !strings.Contains(got.body, "not known") || got.header.Get("Set-Cookie") != "" {
		t.Errorf("a token that is not known: %d %v", got.status, got.header)
	}
	bob := f.signIn("bob")
	if got := f.ask("GET", "/", "", asPage, bob); got.status != http.StatusOK || !strings.Contains(got.body, "Sign out") {
		t.Errorf("signed in: %d", got.status)
	}
	if got := f.ask("POST", "/v1/audit", `{}`, bob); got.status != http.StatusOK {
		t.Errorf("a resource: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", "/metrics", "", bob); got.status != http.StatusForbidden {
		t.Errorf("beyond the roles: %d", got.status)
	}
	if got := f.ask("GET", "/v1/envs", "", "Cookie: toolgym_visit=MADEUP"); got.status != http.StatusUnauthorized {
		t.Errorf("a cookie that was made up: %d", got.status)
	}
	if log := f.logged(); strings.Contains(log, secretOf("bob")) || strings.Contains(log, strings.TrimPrefix(bob, "Cookie: toolgym_visit=")) {
		t.Error("a secret is in the log")
	}
}

func TestPagesAskForRoles(t *testing.T) {
	f := guarded(t, api.Config{Specs: tools.Specs{arithmetic.Spec()}})
	alice := f.signIn("alice")
	if got := f.ask("GET", "/", "", asPage, alice); got.status != http.StatusForbidden || !strings.Contains(got.body, "expected one with the role score") {
		t.Errorf("a page: %d\n%s", got.status, got.body)
	}
	if got := f.ask("GET", "/", "", "Accept: application/problem+json, text/html", alice); got.status != http.StatusForbidden || got.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a script: %d %v", got.status, got.header)
	}
}

func TestVisitsEnd(t *testing.T) {
	f := guarded(t, api.Config{})
	signedOut, old := f.signIn("bob"), f.signIn("bob")
	f.ask("POST", "/lab/signout", "", signedOut)
	if got := f.ask("GET", "/v1/envs", "", signedOut); got.status != http.StatusUnauthorized {
		t.Errorf("signed out: %d", got.status)
	}
	f.wait(11 * time.Hour)
	if got := f.ask("GET", "/v1/envs", "", old); got.status != http.StatusOK {
		t.Errorf("after 11 hours: %d", got.status)
	}
	f.wait(2 * time.Hour)
	if got := f.ask("GET", "/v1/envs", "", old); got.status != http.StatusUnauthorized {
		t.Errorf("after 13 hours: %d", got.status)
	}
}

// TestVisitsOfOthersStay signs one token in so often that any table shared by
// the tokens would be full, and another token's browser stays signed in.
func TestVisitsOfOthersStay(t *testing.T) {
	f := guarded(t, api.Config{})
	status := func(cookie string) int { return f.ask("GET", "/v1/envs", "", cookie).status }
	bob := f.signIn("bob")
	var carol []string
	for range 1100 { // at the same moment: the order must not depend on the clock
		carol = append(carol, f.signIn("carol"))
	}
	if got := status(bob); got != http.StatusOK {
		t.Errorf("another token's visit: status %d", got)
	}
	const kept = 32
	for i, want := range map[int]int{0: http.StatusUnauthorized, len(carol) - kept - 1: http.StatusUnauthorized, len(carol) - kept: http.StatusOK, len(carol) - 1: http.StatusOK} {
		if got := status(carol[i]); got != want {
			t.Errorf("visit %d of %d of one token: status %d; want %d", i, len(carol), got, want)
		}
	}
	f.ask("POST", "/lab/signout", "", carol[len(carol)-1])
	f.signIn("carol")
	if got := status(carol[len(carol)-kept]); got != http.StatusOK {
		t.Errorf("the oldest visit after another was signed out: status %d; want %d", got, http.StatusOK)
	}
	f.wait(13 * time.Hour)
	carol = []string{f.signIn("carol")}
	for range kept - 1 {
		f.signIn("carol")
	}
	if got := status(carol[0]); got != http.StatusOK {
		t.Errorf("visits that have expired count: status %d; want %d", got, http.StatusOK)
	}
}

// TestSignedInElsewhere sends what a page of another site could make a signed-in
// browser send, if it sent the cookie.
func TestSignedInElsewhere(t *testing.T) {
	f := guarded(t, api.Config{})
	bob := f.signIn("bob")
	for name, from := range map[string]string{"another site": "Sec-Fetch-Site: cross-site", "another port": "Sec-Fetch-Site: same-site", "another origin": "Origin: http://evil.example"} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/v1/audit", "/lab/signin", "/lab/signout"} {
				if got := f.ask("POST", path, "{}", bob, from); got.status != http.StatusForbidden {
					t.Errorf("%s: %d", path, got.status)
				}
			}
		})
	}
	if got := f.ask("GET", "/v1/envs", "", bob); got.status != http.StatusOK {
		t.Errorf("and is signed out: %d", got.status)
	}
}

func TestSigningInLeadsHere(t *testing.T) {
	f := guarded(t, api.Config{})
	for next, want := range map[string]string{"/lab/training?run=1": "/lab/training?run=1", "https://evil.example": "/", "//evil.example": "/", "/\\evil.example": "/", "": "/", "/\n//evil.example": "/", "/\v/evil.example": "/", "/\x00": "/", "/\x1b[2J": "/",
		"/\x7f": "/", "/\u009b": "/", "/\u202eevil": "/", "/ /evil.example": "/", "/\t/evil.example": "/", "http:/evil": "/", "/?text=%0B%0A+x": "/?text=%0B%0A+x"} {
		got := f.ask("POST", "/lab/signin", url.Values{"token": {secretOf("bob")}, "next": {next}}.Encode(), urlencoded)
		if got.header.Get("Location") != want {
			t.Errorf("%q leads to %q", next, got.header.Get("Location"))
		}
	}
}

// TestNoSigningIn: where no token is asked for, there is nothing to sign in to.
func TestNoSigningIn(t *testing.T) {
	f := serve(t, api.Config{Specs: tools.Specs{arithmetic.Spec()}})
	if got := f.ask("GET", "/lab/signin", "", asPage); got.status != http.StatusNotFound {
		t.Errorf("%d", got.status)
	}
	if got := f.ask("GET", "/", "", asPage); got.status != http.StatusOK || strings.Contains(got.body, "Sign out") {
		t.Errorf("the lab: %d", got.status)
	}
}
