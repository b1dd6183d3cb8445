package lab_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"toolgym/api"
)

func TestEvaluationsWithoutADatabase(t *testing.T) {
	address := serve(t, api.Config{}) + "/lab/evaluations"
	if status, body := getPage(t, address); status != http.StatusOK || !strings.Contains(body, "--data") {
		t.Errorf("%d: the page does not say how to get one", status)
	}
	if status, _ := getPage(t, address+"/x"); status != http.StatusNotFound {
		t.Errorf("one that there is not: %d", status)
	}
	if status, body := post(t, address, page, url.Values{"model": {"agent:idle"}, "envs": {"arithmetic"}}); status != http.StatusConflict || !strings.Contains(body, "data folder") {
		t.Errorf("beginning one: %d", status)
	}
}

func TestEvaluationRefusals(t *testing.T) {
	address := serve(t, api.Config{Data: t.TempDir()}) + "/lab/evaluations"
	good := func(field, value string) url.Values {
		form := url.Values{"model": {"agent:idle"}, "envs": {"arithmetic"}, "levels": {"0"}, "n": {"1"}, "run": {"r"}}
		form.Set(field, value)
		return form
	}
	tests := []struct {
		name, field string
		form        url.Values
	}{
		{"no number of tasks", "n", good("n", "many")},
		{"no trials", "trials", good("trials", "0")},
		{"no seed", "seed", good("seed", "-1")},
		{"an unknown agent", "model", good("model", "agent:wizard")},
		{"no agent at all", "model", good("model", "")},
		{"a server that was not named", "model", good("model", "openai:http://127.0.0.1:1")},
		{"an unknown environment", "envs", good("envs", "chess")},
		{"an unknown level", "levels", good("levels", "seven")},
		{"nothing to play", "envs", url.Values{"model": {"agent:idle"}}},
		{"a name that is too long", "run", good("run", strings.Repeat("x", 300))},
		{"a suite that is none", "suite", good("suite", "{")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, body := post(t, address, page, test.form)
			if status != http.StatusUnprocessableEntity || !strings.Contains(body, `id="`+test.field+`-wrong">`) {
				t.Errorf("%d, want a fault at %s", status, test.field)
			}
		})
	}
}

// TestEvaluationsAreTheirOwners alone, on pages as over REST.
func TestEvaluationsAreTheirOwners(t *testing.T) {
	var tokens []api.Token
	secrets := map[string]string{}
	for _, name := range []string{"ann", "bob"} {
		secret, token, err := api.Issue(name, api.Train)
		if err != nil {
			t.Fatal(err)
		}
		secrets[name], tokens = secret, append(tokens, token)
	}
	address := serve(t, api.Config{Data: t.TempDir(), Tokens: tokens}) + "/lab/evaluations"
	as := func(who, method, path string, form url.Values) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+secrets[who])
		request.Header.Set("Accept", page)
		answer, err := http.DefaultTransport.RoundTrip(request) // which follows no redirection
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if status, body := as("ann", http.MethodPost, "", url.Values{"model": {"agent:idle"}, "envs": {"arithmetic"}, "levels": {"0"}, "n": {"1"}, "run": {"anns"}}); status != http.StatusSeeOther {
		t.Fatalf("beginning: %d %s", status, body)
	}
	for who, want := range map[string]int{"ann": http.StatusOK, "bob": http.StatusNotFound} {
		if status, _ := as(who, http.MethodGet, "/anns", nil); status != want {
			t.Errorf("%s sees the page: %d", who, status)
		}
		if _, body := as(who, http.MethodGet, "", nil); strings.Contains(body, "anns") != (who == "ann") {
			t.Errorf("%s sees a wrong list", who)
		}
	}
	for _, what := range []string{"cancel", "delete", "resume"} {
		if status, _ := as("bob", http.MethodPost, "/anns", url.Values{"do": {what}}); status != http.StatusNotFound {
			t.Errorf("bob may %s: %d", what, status)
		}
	}
	if _, body := as("bob", http.MethodGet, "?a=anns&b=none", nil); !strings.Contains(body, "there is no evaluation") && !strings.Contains(body, "There is no evaluation") {
		t.Error("bob compares")
	}
	if status, _ := as("ann", http.MethodPost, "/anns", url.Values{"do": {"cancel"}}); status != http.StatusSeeOther {
		t.Errorf("cancelling what may have ended: %d", status)
	}
	if status, _ := as("ann", http.MethodGet, "/anns", nil); status != http.StatusOK {
		t.Errorf("it is gone: %d", status)
	}
	if status, _ := as("ann", http.MethodPost, "/anns", url.Values{"do": {"explode"}}); status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown deed: %d", status)
	}
}
