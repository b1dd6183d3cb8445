package lab_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"toolgym/api/training"
)

// A programmer speaks to the routes of the trainings.
type programmer struct {
	t              *testing.T
	server, secret string
}

func clientOf(t *testing.T, server, secret string) programmer {
	return programmer{t, server, secret}
}

func (p programmer) start(body string) training.State {
	p.t.Helper()
	return p.ask(http.MethodPost, "/v1/policy/runs", body)
}

func (p programmer) state(id string) training.State {
	p.t.Helper()
	return p.ask(http.MethodGet, "/v1/policy/runs/"+id, "")
}

func (p programmer) ask(method, path, body string) (state training.State) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.server+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if p.secret != "" {
		r.Header.Set("Authorization", "Bearer "+p.secret)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil || answer.StatusCode >= 300 {
		p.t.Fatalf("%s %s: %s, %v", method, path, answer.Status, err)
	}
	return state
}
