package eval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/match"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// scripted is a server that does what the user's message says, as Ollama does
// it. The bodies are those of Ollama 0.6.5.
type scripted struct {
	*httptest.Server
	asked  atomic.Int64
	before func() // each answer; nil for nothing
	lock   sync.Mutex
	seen   map[string]int // requests by message
}

const numCtx = 512

func newScripted(t *testing.T) *scripted {
	t.Helper()
	s := &scripted{seen: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.chat))
	t.Cleanup(s.Close)
	return s
}

func (s *scripted) times(script string) int {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.seen[script]++
	return s.seen[script]
}

func (s *scripted) chat(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	if s.before != nil {
		s.before()
	}
	var request struct {
		Messages []tools.Message `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	script := request.Messages[0].Content
	times := s.times(script)
	answer := func(message string, prompt int, reason string) {
		_, _ = fmt.Fprintf(w, `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":%s,"done":true,"done_reason":%q,"prompt_eval_count":%d,"eval_count":20}`, message, reason, prompt)
	}
	call := func(b int) string {
		return fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":%d}}}]}`, b)
	}
	switch script {
	case "right":
		answer(call(2), 60, "stop")
	case "wrong":
		answer(call(3), 60, "stop")
	case "stumbles twice":
		if times > 2 {
			answer(call(2), 60, "stop")
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprint(w, `{"error":"server busy, please try again"}`)
	case "hangs":
		<-r.Context().Done()
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprint(w, `{"error":"llama runner process has terminated"}`)
	case "500 that quotes a call":
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprint(w, `{"error":"error parsing tool call: raw='{\"name\": \"add\", \"arguments\": {\"a\": 1, \"b\": }}', err=invalid character '}' looking for beginning of value"}`)
	case "loses the output":
		answer(`{"role":"assistant","content":""}`, 60, "stop")
	case "cuts the stream":
		w.Header().Set("Content-Length", "500")
		_, _ = fmt.Fprint(w, `{"model":"m","message":{"role":"assistant","content":"I`)
	case "ends before it is done":
		_, _ = fmt.Fprint(w, `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"I"},"done":false}`)
	case "truncates the prompt":
		answer(call(2), numCtx, "stop")
	case "reaches num_predict":
		answer(`{"role":"assistant","content":"I think that one and two"}`, 60, "length")
	}
}

// items makes a question for each script: the right answer adds 1 and 2.
func items(t *testing.T, scripts ...string) []eval.Item {
	t.Helper()
	add, err := tools.Declare("add", "Adds.", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	var list []eval.Item
	for i, script := range scripts {
		task := tools.Task{ID: fmt.Sprintf("own/0/%d", i), Env: "own", Level: "0", Seed: uint64(i), Prompt: []tools.Message{{Role: "user", Content: script}}}
		item, err := eval.Ask(t.Context(), task, tools.Set{add}, match.Expected{Calls: []match.Call{{Name: "add", Arguments: json.RawMessage(`{"a":1,"b":2}`)}}})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, item)
	}
	return list
}

// ledger keeps records in memory, each trial once.
type ledger struct {
	lock    sync.Mutex
	records []eval.Record
	full    error // what Keep says when it is set
}

func (l *ledger) Keep(_ context.Context, r eval.Record) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.full != nil {
		return l.full
	}
	for _, have := range l.records {
		if have.Key() == r.Key() && (have.Failure == nil || have.Failure.Kind != grpo.FailureInfrastructure) {
			return &tools.Error{Code: tools.Conflict, Message: "twice"}
		}
	}
	l.records = append(l.records, r)
	return nil
}

func (l *ledger) trials() []eval.Trial {
	l.lock.Lock()
	defer l.lock.Unlock()
	var list []eval.Trial
	for _, r := range l.records {
		list = append(list, r.Trial)
	}
	return list
}

// runner plays the items on the server over the chat route.
func runner(t *testing.T, s *scripted, l eval.Ledger, trials int, list []eval.Item) *eval.Runner {
	t.Helper()
	chat := rollout.Chat{Config: rollout.Config{URL: s.URL, Model: "m", NumCtx: numCtx, Timeout: 2 * time.Second}.WithDefaults()}
	return &eval.Runner{
		Run:     eval.Run{Name: "r", Model: "m", Digest: "sha256:1", Routes: []string{"chat"}, Trials: trials, Seed: 3},
		Items:   list,
		Servers: []eval.Server{{Address: s.URL, Concurrency: 2, Drivers: map[string]eval.Driver{"chat": chat}}},
		Scorer:  scorer(t, nil), Ledger: l, Now: time.Now,
		Retry: eval.Retry{Attempts: 1},
	}
}

func scorer(t *testing.T, specs tools.Specs) *grpo.Scorer {
	t.Helper()
	s, err := grpo.NewScorer(specs, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
