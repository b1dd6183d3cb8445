package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/grpo"
	"toolgym/tools"
)

func TestMaxStepsTruncates(t *testing.T) {
	f := serve(t, api.Config{MaxSteps: 2})
	episode := f.begin("tally/endless/1")
	f.ask("POST", episode+"/messages", `{"content":"one"}`)
	last := f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":1}}`)
	if want := `"reward":-0.1,"terminated":false,"truncated":true,"step":2}`; !strings.Contains(last.body, want) {
		t.Errorf("%s, want %s", last.body, want)
	}
	if got := f.ask("POST", episode+"/calls", `{"name":"done"}`); got.status != http.StatusConflict {
		t.Errorf("after the limit: %d %s", got.status, got.body)
	}
	fork := f.ask("POST", episode+"/fork", "")
	if fork.status != http.StatusCreated || !strings.Contains(fork.body, `"truncated":true`) {
		t.Errorf("the fork: %d %s", fork.status, fork.body)
	}
}

func TestTaskThatEndsAtMaxStepsTerminates(t *testing.T) {
	f := serve(t, api.Config{MaxSteps: 1})
	got := f.ask("POST", f.begin("tally/0/0")+"/calls", `{"name":"done"}`)
	if want := `"reward":1,"terminated":true,"truncated":false`; !strings.Contains(got.body, want) {
		t.Errorf("%s, want %s", got.body, want)
	}
}

// TestMemoryIsBounded fills the memory with messages. Ended episodes make room;
// then calls are refused until some are deleted.
func TestMemoryIsBounded(t *testing.T) {
	f := serve(t, api.Config{MaxMemory: 10_000, IdleExpiry: 10 * time.Second})
	ended := f.begin("tally/spoken/1")
	f.ask("POST", ended+"/messages", fmt.Sprintf(`{"content":%q}`, strings.Repeat("x", 6000)))
	live := f.begin("tally/endless/1")
	message := fmt.Sprintf(`{"content":%q}`, strings.Repeat("y", 6000))
	for range 2 {
		if got := f.ask("POST", live+"/messages", message); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	got := f.ask("POST", live+"/messages", message)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "10" {
		t.Errorf("memory full: %d %v %s", got.status, got.header, got.body)
	}
	if got := f.ask("GET", ended, ""); got.status != http.StatusGone {
		t.Errorf("the ended episode: %d, want 410", got.status)
	}
	if got := f.ask("POST", "/v1/episodes", `{"task_id":"tally/0/1"}`); got.status != http.StatusServiceUnavailable {
		t.Errorf("a new episode: %d, want 503", got.status)
	}
	f.ask("DELETE", live, "")
	f.begin("tally/0/1")
}

// TestGravesAreBounded lets one episode after the other expire. Four times the
// size of the table is remembered, then forgotten from the oldest on.
func TestGravesAreBounded(t *testing.T) {
	f := serve(t, api.Config{MaxEpisodes: 1})
	var paths []string
	for range 6 {
		paths = append(paths, f.begin("tally/0/1"))
		f.wait(30 * time.Minute)
	}
	for i, path := range paths {
		want := http.StatusGone
		if i < 2 {
			want = http.StatusNotFound
		}
		if got := f.ask("GET", path, ""); got.status != want {
			t.Errorf("episode %d: %d, want %d", i, got.status, want)
		}
	}
}

func TestUseKeepsAnEpisode(t *testing.T) {
	f := serve(t, api.Config{IdleExpiry: time.Minute})
	episode := f.begin("tally/endless/1")
	for range 5 {
		f.wait(59 * time.Second)
		if got := f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":1}}`); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	f.ask("GET", episode, "") // looking is not using
	f.wait(time.Minute)
	if got := f.ask("GET", episode, ""); got.status != http.StatusGone {
		t.Errorf("%d, want 410", got.status)
	}
}

// TestRateIsLimited: the burst passes, the next is told when to come again, and
// then does.
func TestRateIsLimited(t *testing.T) {
	f := serve(t, api.Config{Rate: 0.5, Burst: 3})
	for range 3 {
		if got := f.ask("GET", "/healthz", ""); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for range 2 { // a refusal costs nothing
		got := f.ask("GET", "/v1/envs", "", "X-Forwarded-For: 10.0.0.1", "X-Real-Ip: 10.0.0.1")
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "2" {
			t.Errorf("%d %v %s", got.status, got.header, got.body)
		}
		checkProblem(t, "GET", got)
	}
	f.wait(2 * time.Second)
	if got := f.ask("GET", "/v1/envs", ""); got.status != http.StatusOK {
		t.Errorf("after the wait: %d", got.status)
	}
}

func TestConfigIsValidated(t *testing.T) {
	spec := tallySpec(nil)
	change := func(do func(*tools.Spec)) api.Config {
		s := spec
		do(&s)
		return api.Config{Specs: tools.Specs{s}}
	}
	tests := []struct {
		name, where string
		config      api.Config
	}{
		{"no environments", "Specs", api.Config{}},
		{"the same name twice", "Specs[1]", api.Config{Specs: tools.Specs{spec, spec}}},
		{"a name with a slash", "Specs[0].Name", change(func(s *tools.Spec) { s.Name = "a/b" })},
		{"no name", "Specs[0].Name", change(func(s *tools.Spec) { s.Name = "" })},
		{"no levels", "Specs[0]", change(func(s *tools.Spec) { s.Levels = nil })},
		{"no New", "Specs[0]", change(func(s *tools.Spec) { s.New = nil })},
		{"a tool twice", "/tools/4", change(func(s *tools.Spec) {
			s.Tools = func(string, string) tools.Set { return append(tallyTools(), tallyTools()[0]) }
		})},
		{"negative limit", "MaxEpisodes", api.Config{Specs: tools.Specs{spec}, MaxEpisodes: -1}},
		{"host with a port", "AllowHosts[1]", api.Config{Specs: tools.Specs{spec}, AllowHosts: []string{"::1", "gym.example:80"}}},
		{"host with a scheme", "AllowHosts[0]", api.Config{Specs: tools.Specs{spec}, AllowHosts: []string{"http://gym.example"}}},
		{"any host", "AllowHosts[0]", api.Config{Specs: tools.Specs{spec}, AllowHosts: []string{"*"}}},
		{"a certificate without a key", "KeyFile", api.Config{Specs: tools.Specs{spec}, CertFile: "cert.pem"}},
		{"a key without a certificate", "CertFile", api.Config{Specs: tools.Specs{spec}, KeyFile: "key.pem"}},
		{"no certificate", "CertFile", api.Config{Specs: tools.Specs{spec}, CertFile: "nowhere", KeyFile: "nowhere"}},
		{"no address of a server", "Ollama[1]", api.Config{Specs: tools.Specs{spec}, Ollama: []string{"http://127.0.0.1:11434", "localhost:11434"}}},
		{"no criteria", "Rubric/criteria", api.Config{Specs: tools.Specs{spec}, Rubric: &grpo.Rubric{}}},
		{"negative time", "IdleExpiry", api.Config{Specs: tools.Specs{spec}, IdleExpiry: -1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.config.Validate() // and not only New, which opens the database
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid || e.Where != test.where {
				t.Errorf("%v, want one about %s", err, test.where)
			}
		})
	}
}

// TestIDsThatRepeat: a generator that does is at fault, and nobody's episode is
// taken over.
func TestIDsThatRepeat(t *testing.T) {
	f := serve(t, api.Config{})
	f.begin("tally/0/1")
	f.mu.Lock()
	f.ids = 1 // the request that began the first one had an id too
	f.mu.Unlock()
	if got := f.ask("POST", "/v1/episodes", `{"task_id":"tally/0/2"}`, "X-Request-Id: x"); got.status != http.StatusInternalServerError {
		t.Errorf("%d %s", got.status, got.body)
	}
}
