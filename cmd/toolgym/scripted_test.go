package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"toolgym/tools"
)

// scripted is a server that speaks as Ollama does and answers at once: what a
// test of the command line needs, without a model's time. Its model "good"
// answers questions about adding rightly, "weak" in one of three, "down" never;
// "plain" has no tools.
type scripted struct {
	*httptest.Server
	asked  atomic.Int64
	digest atomic.Value // of every model
	lasts  atomic.Int64 // questions that it answers before it is down; 0: all
}

func newScripted() *scripted {
	s := &scripted{}
	s.digest.Store("aa11bb22cc33dd44")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"version":"0.0.0"}`) })
	mux.HandleFunc("GET /api/tags", s.tags)
	mux.HandleFunc("POST /api/show", s.show)
	mux.HandleFunc("POST /api/chat", s.chat)
	s.Server = httptest.NewServer(mux)
	return s
}

func (s *scripted) tags(w http.ResponseWriter, _ *http.Request) {
	var models []map[string]any
	for _, name := range []string{"good:latest", "weak:latest", "down:latest", "plain:latest"} {
		models = append(models, map[string]any{"name": name, "digest": fmt.Sprint(s.digest.Load(), "00000000", name), "size": 1234567})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"models": models})
}

func (s *scripted) show(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model string `json:"model"`
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	capabilities := []string{"completion", "tools"}
	if request.Model == "plain:latest" {
		capabilities = capabilities[:1]
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"template": "{{ range .Tools }}{{ . }}{{ end }}{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}<tool_call>", "capabilities": capabilities,
		"model_info": map[string]any{"llama.context_length": 2048},
	})
}

func (s *scripted) chat(w http.ResponseWriter, r *http.Request) {
	asked, lasts := s.asked.Add(1), s.lasts.Load()
	var request struct {
		Model    string          `json:"model"`
		Messages []tools.Message `json:"messages"`
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	var a, b int
	question := request.Messages[0].Content
	_, _ = fmt.Sscanf(question, "add %d and %d", &a, &b)
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(question))
	switch {
	case request.Model == "down" || lasts > 0 && asked > lasts:
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprint(w, `{"error":"out of memory"}`)
		return
	case request.Model == "weak" && hash.Sum32()%3 != 0:
		b++
	}
	_, _ = fmt.Fprintf(w, `{"model":%q,"created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a":%d,"b":%d}}}]},"done":true,"done_reason":"stop","prompt_eval_count":30,"eval_count":9}`, request.Model, a, b)
}
