package lab_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"toolgym/api"
)

func TestEvaluationsWithoutADatabase(t *testing.T) {
	address := serve(t, api.Config{}) + "/lab/evaluations"
	if !strings.Contains(load(t, address, asPage), "--data") {
		t.Error("the page does not say how to get one")
	}
	if got := ask(t, http.MethodGet, address+"/x", "", asPage); got.status != http.StatusNotFound {
		t.Errorf("one that there is not: %d", got.status)
	}
	if got := post(t, address, url.Values{"model": {"agent:idle"}, "envs": {"arithmetic"}}, asPage); got.status != http.StatusConflict || !strings.Contains(got.text, "data folder") {
		t.Errorf("beginning one: %d", got.status)
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
			got := post(t, address, test.form, asPage)
			if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, `id="`+test.field+`-wrong">`) {
				t.Errorf("%d, want a fault at %s", got.status, test.field)
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
	as := func(who, method, path string, form url.Values) answer {
		t.Helper()
		return ask(t, method, address+path, form.Encode(), asPage, sendsForm, bearer(secrets[who]))
	}
	if got := as("ann", http.MethodPost, "", url.Values{"model": {"agent:idle"}, "envs": {"arithmetic"}, "levels": {"0"}, "n": {"1"}, "run": {"anns"}}); got.status != http.StatusOK || !strings.Contains(got.text, "anns") {
		t.Fatalf("beginning: %d %s", got.status, got.text)
	}
	for who, want := range map[string]int{"ann": http.StatusOK, "bob": http.StatusNotFound} {
		if got := as(who, http.MethodGet, "/anns", nil); got.status != want {
			t.Errorf("%s sees the page: %d", who, got.status)
		}
		if got := as(who, http.MethodGet, "", nil); strings.Contains(got.text, "anns") != (who == "ann") {
			t.Errorf("%s sees a wrong list", who)
		}
	}
	for _, what := range []string{"cancel", "delete", "resume"} {
		if got := as("bob", http.MethodPost, "/anns", url.Values{"do": {what}}); got.status != http.StatusNotFound {
			t.Errorf("bob may %s: %d", what, got.status)
		}
	}
	if got := as("bob", http.MethodGet, "?a=anns&b=none", nil); !strings.Contains(got.text, "there is no evaluation") && !strings.Contains(got.text, "There is no evaluation") {
		t.Error("bob compares")
	}
	if got := as("ann", http.MethodPost, "/anns", url.Values{"do": {"cancel"}}); got.status != http.StatusOK {
		t.Errorf("cancelling what may have ended: %d", got.status)
	}
	if got := as("ann", http.MethodGet, "/anns", nil); got.status != http.StatusOK {
		t.Errorf("it is gone: %d", got.status)
	}
	if got := as("ann", http.MethodPost, "/anns", url.Values{"do": {"explode"}}); got.status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown deed: %d", got.status)
	}
}
