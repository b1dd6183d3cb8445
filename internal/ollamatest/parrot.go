package ollamatest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A Parrot speaks as Ollama does, for one model that answers every turn with the
// same words. It is for tests of the way to a model and back, which need it to
// wait, or to say what no real model would.
type Parrot struct {
	Model        string // as the server lists it
	Thinks, Says string
	// Hold, where it is not nil, holds each turn until something is received
	// from it.
	Hold <-chan struct{}
}

// Serve lets the parrot speak until the test ends, and returns its address.
func (p Parrot) Serve(t testing.TB) string {
	t.Helper()
	mux := http.NewServeMux()
	say := func(pattern string, body map[string]any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(body) })
	}
	say("GET /api/version", map[string]any{"version": "0.0.0"})
	say("GET /api/tags", map[string]any{"models": []map[string]any{{"name": p.Model, "digest": "aa11bb22cc33dd4400000000", "size": 1234567}}})
	say("POST /api/show", map[string]any{"template": "{{ .Prompt }}<tool_call>", "capabilities": []string{"completion", "tools"},
		"model_info": map[string]any{"llama.context_length": 2048}})
	mux.HandleFunc("POST /api/chat", p.chat)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func (p Parrot) chat(w http.ResponseWriter, r *http.Request) {
	if p.Hold != nil {
		select {
		case <-p.Hold:
		case <-r.Context().Done():
		}
	}
	message := map[string]any{"role": "assistant", "content": p.Says}
	if p.Thinks != "" {
		message["thinking"] = p.Thinks
	}
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // texts always encode
	}
	_, _ = fmt.Fprintf(w, `{"model":%q,"created_at":"2026-01-01T00:00:00Z","message":%s,"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":4}`, p.Model, text)
}
