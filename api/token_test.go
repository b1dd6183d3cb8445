package api_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/tools"
)

// secretOf is the secret of a token of these tests.
func secretOf(name string) string { return "tg_SECRET" + strings.ToUpper(name) }

// token is a token whose secret is known.
func token(t testing.TB, name string, roles ...string) api.Token {
	t.Helper()
	_, issued, err := api.Issue(name, roles...)
	if err != nil {
		t.Fatal(err)
	}
	issued.Hash = hashOf(secretOf(name))
	return issued
}

func hashOf(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

func bearer(name string) string { return "Authorization: Bearer " + secretOf(name) }

// guarded is a server with a token of each role.
func guarded(t *testing.T, config api.Config) *fixture {
	t.Helper()
	config.Tokens = []api.Token{token(t, "alice", api.Play), token(t, "bob", api.Play, api.Score), token(t, "carol", api.Score),
		token(t, "tom", api.Train), token(t, "root", api.Admin)}
	return serve(t, config)
}

func TestTokensAreAskedFor(t *testing.T) {
	f := guarded(t, api.Config{})
	start := `{"task_id":"tally/0/5"}`
	tests := []struct {
		name, method, path, body, header string
		status                           int
	}{
		{"liveness to everybody", "GET", "/healthz", "", "", 200},
		{"readiness to everybody", "GET", "/readyz", "", "", 200},
		{"the document to everybody", "GET", "/openapi.json", "", "", 200},
		{"the manual to everybody", "GET", "/docs", "", "", 200},
		{"environments to nobody", "GET", "/v1/envs", "", "", 401},
		{"environments to any token", "GET", "/v1/envs", "", bearer("carol"), 200},
		{"episodes to nobody", "POST", "/v1/episodes", start, "", 401},
		{"episodes to a player", "POST", "/v1/episodes", start, bearer("alice"), 201},
		{"episodes to a scorer", "POST", "/v1/episodes", start, bearer("carol"), 403},
		{"episodes to the administrator", "POST", "/v1/episodes", start, bearer("root"), 201},
		{"audits to a player", "POST", "/v1/audit", `{}`, bearer("alice"), 403},
		{"audits to a scorer", "POST", "/v1/audit", `{}`, bearer("carol"), 200},
		{"a token as a key", "GET", "/v1/envs", "", "X-API-Key: " + secretOf("alice"), 200},
		{"the scheme in small letters", "GET", "/v1/envs", "", "Authorization: bearer " + secretOf("alice"), 200},
		{"a forged token", "GET", "/v1/envs", "", "Authorization: Bearer tg_GUESS", 401},
		{"a forged token where none is needed", "GET", "/healthz", "", "Authorization: Bearer tg_GUESS", 401},
		{"the hash in place of the secret", "GET", "/v1/envs", "", fmt.Sprintf("Authorization: Bearer %x", hashOf(secretOf("alice"))), 401},
		{"the beginning of a token", "GET", "/v1/envs", "", bearer("alice")[:len(bearer("alice"))-1], 401},
		{"a token with something behind it", "GET", "/v1/envs", "", bearer("alice") + " x", 401},
		{"an empty token", "GET", "/v1/envs", "", "Authorization: Bearer ", 401},
		{"no scheme", "GET", "/v1/envs", "", "Authorization: " + secretOf("alice"), 401},
		{"a password", "GET", "/v1/envs", "", "Authorization: Basic YWxpY2U6eA==", 401},
		{"a token in the URL", "GET", "/v1/envs?token=" + secretOf("alice"), "", "", 401},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var headers []string
			if test.header != "" {
				headers = []string{test.header}
			}
			got := f.ask(test.method, test.path, test.body, headers...)
			if got.status != test.status {
				t.Fatalf("%d, want %d: %s", got.status, test.status, got.body)
			}
			if got.status >= 400 {
				checkProblem(t, test.method, got)
			}
			if got.status == 401 && got.header.Get("Www-Authenticate") == "" {
				t.Error("nobody is told how to authenticate")
			}
		})
	}
	if strings.Contains(f.logged(), "SECRET") {
		t.Error("a secret is in the log")
	}
	if !strings.Contains(f.logged(), "token=alice") {
		t.Error("the log does not say whose request it was")
	}
}

func TestTwoTokensAreNone(t *testing.T) {
	f := guarded(t, api.Config{})
	for _, second := range []string{bearer("alice"), bearer("bob"), "X-API-Key: " + secretOf("alice")} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/v1/envs", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range []string{bearer("alice"), second} {
			name, value, _ := strings.Cut(header, ": ")
			r.Header.Add(name, value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized {
			t.Errorf("with %s: %d", second, response.StatusCode)
		}
	}
}

// TestEpisodesBelongToTheirToken: to others they do not exist, whatever is done.
func TestEpisodesBelongToTheirToken(t *testing.T) {
	for name, config := range map[string]api.Config{"in memory": {}, "in the database": {Data: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			f := guarded(t, config)
			episode := f.ask("POST", "/v1/episodes", `{"task_id":"tally/0/5"}`, bearer("alice")).header.Get("Location")
			for _, request := range []struct{ method, path, body string }{
				{"GET", episode, ""}, {"POST", episode + "/calls", `{"name":"add","arguments":{"n":1}}`},
				{"POST", episode + "/messages", `{"content":"hi"}`}, {"POST", episode + "/fork", ""}, {"DELETE", episode, ""},
			} {
				if got := f.ask(request.method, request.path, request.body, bearer("bob")); got.status != http.StatusNotFound {
					t.Errorf("bob's %s %s: %d %s", request.method, request.path, got.status, got.body)
				}
			}
			if got := f.ask("GET", "/v1/episodes", "", bearer("bob")); !strings.Contains(got.body, `"episodes":[]`) {
				t.Errorf("bob sees %s", got.body)
			}
			for _, who := range []string{"alice", "root"} {
				if got := f.ask("GET", episode, "", bearer(who)); got.status != http.StatusOK || !strings.Contains(got.body, `"step":0`) {
					t.Errorf("%s: %d %s", who, got.status, got.body)
				}
				if got := f.ask("GET", "/v1/episodes", "", bearer(who)); !strings.Contains(got.body, "tally/0/5") {
					t.Errorf("%s sees %s", who, got.body)
				}
			}
		})
	}
}

func TestTokensHaveQuotas(t *testing.T) {
	f := guarded(t, api.Config{TokenEpisodes: 2, TokenRate: 4})
	start := func(who string) answer { return f.ask("POST", "/v1/episodes", `{"task_id":"tally/0/5"}`, bearer(who)) }
	start("alice")
	start("alice")
	if got := start("alice"); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "2 of 4096 live episodes") {
		t.Errorf("a third episode: %d %s", got.status, got.body)
	}
	start("alice")
	if got := start("alice"); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "1" {
		t.Errorf("a fifth request: %d %s", got.status, got.body)
	}
	if got := start("bob"); got.status != http.StatusCreated {
		t.Errorf("bob's: %d %s", got.status, got.body)
	}
}

func TestTokenFilesAreRead(t *testing.T) {
	secret, issued, err := api.Issue("alice.b-c_1", api.Play, api.Score)
	if err != nil || len(secret) < 26 {
		t.Fatalf("%q, %v", secret, err)
	}
	list, err := api.ParseTokens(strings.NewReader("# holders\n\n  " + issued.String() + "\r\n"))
	if err != nil || len(list) != 1 || list[0].String() != issued.String() || list[0].Hash != hashOf(secret) {
		t.Errorf("%v, %v", list, err)
	}
	hash := strings.Repeat("0f", 32)
	for name, text := range map[string]string{
		"no colons": "alice", "a part too many": "a:play:" + hash + ":", "no name": ":play:" + hash, "a name with blanks": "a b:play:" + hash,
		"no role": "a::" + hash, "unknown role": "a:boss:" + hash, "a role twice": "a:play,play:" + hash, "short hash": "a:play:0f", "no hash": "a:play:" + secret,
		"a name twice": "a:play:" + hash + "\na:score:" + strings.Repeat("0e", 32), "a hash twice": "a:play:" + hash + "\nb:play:" + hash,
	} {
		_, err := api.ParseTokens(strings.NewReader("# first line\n" + text))
		if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid || !strings.HasPrefix(e.Where, "line ") || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
