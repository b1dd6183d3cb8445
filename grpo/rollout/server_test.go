package rollout_test

import (
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// driver is what the routes have in common.
type driver interface {
	Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (rollout.Transcript, error)
}

func routes(c rollout.Config) map[string]driver {
	return map[string]driver{"chat": rollout.Chat{Config: c}, "raw": rollout.Raw{Config: c}, "openai": rollout.OpenAI{Config: c, Key: "secret"}}
}

// A prompt reaches no address but the one that the user named: a redirect is the
// infrastructure's failure, in a trial and in a probe.
func TestRedirectsAreTheInfrastructures(t *testing.T) {
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(rightCall))
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := httptest.NewServer(http.RedirectHandler(other.URL+"/elsewhere", status))
		t.Cleanup(server.Close)
		for name, route := range routes(config(server.URL)) {
			got, err := route.Run(t.Context(), &sums{set: adder(t)}, prompt("user"), 1)
			if err != nil {
				t.Fatal(err)
			}
			if got.Failure == nil || got.Failure.Kind != grpo.FailureInfrastructure || !strings.Contains(got.Failure.Reason, other.URL+"/elsewhere") {
				t.Errorf("%s, HTTP %d: failure %+v", name, status, got.Failure)
			}
		}
		_, err := config(server.URL).Probe(t.Context())
		refused(t, err, "redirects to "+other.URL)
		refused(t, rollout.OpenAI{Config: config(server.URL)}.Check(t.Context()), "redirects to "+other.URL)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the other address was asked %d times", n)
	}
}

// A reply over the limit is serving's failure, and of an error the
// infrastructure's; little of it is kept.
func TestLongReplies(t *testing.T) {
	long := `{"message":{"role":"assistant","content":"` + strings.Repeat("x", 5<<20) + `"},"done":true,"choices":[]}`
	for name, test := range map[string]struct {
		status int
		packed bool
		kind   string
	}{
		"reply":         {200, false, grpo.FailureServing},
		"gzip":          {200, true, grpo.FailureServing},
		"error":         {500, false, grpo.FailureInfrastructure},
		"error in gzip": {400, true, grpo.FailureInfrastructure},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if !test.packed {
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(long))
				return
			}
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(test.status)
			packed := gzip.NewWriter(w)
			_, _ = packed.Write([]byte(long))
			_ = packed.Close()
		}))
		t.Cleanup(server.Close)
		for route, driver := range routes(config(server.URL)) {
			t.Run(name+" over "+route, func(t *testing.T) {
				got, err := driver.Run(t.Context(), &sums{set: adder(t)}, prompt("user"), 1)
				if err != nil {
					t.Fatal(err)
				}
				if got.Failure == nil || got.Failure.Kind != test.kind || !strings.Contains(got.Failure.Reason, "the reply is too long: over 4194304 bytes") {
					t.Errorf("failure %+v", got.Failure)
				}
				if n := len(got.Turns[0].Body); n > 8<<10 {
					t.Errorf("%d bytes of the reply are kept", n)
				}
			})
		}
		t.Run(name+" of the server about itself", func(t *testing.T) {
			_, err := config(server.URL).Probe(t.Context())
			refused(t, err, "the reply is too long")
			refused(t, rollout.OpenAI{Config: config(server.URL)}.Check(t.Context()), "the reply is too long")
		})
	}
	wide := config("http://127.0.0.1:1")
	if wide.MaxReply != rollout.DefaultMaxReply {
		t.Errorf("the default is %d bytes", wide.MaxReply)
	}
}

func TestMaxReply(t *testing.T) {
	server, _ := answers(t, http.StatusOK, rightCall)
	c := config(server)
	c.MaxReply = int64(len(rightCall)) - 1
	got, err := rollout.Chat{Config: c}.Run(t.Context(), &sums{set: adder(t)}, prompt("user"), 1)
	if err != nil || got.Failure == nil || got.Failure.Kind != grpo.FailureServing {
		t.Errorf("failure %+v, %v", got.Failure, err)
	}
}

// Trials wait for room in the budget and all end; one that needs more than all
// of it fails.
func TestBudget(t *testing.T) {
	const size = 100 << 10
	body := `{"model":"m","message":{"role":"assistant","content":"` + strings.Repeat("x", size) + `","tool_calls":[{"function":{"name":"add","arguments":{"a":0,"b":0}}}]},"done":true,"done_reason":"stop","prompt_eval_count":20,"eval_count":5}`
	c := config(steady(t, body))
	c.MaxTurns = 3
	budget := rollout.NewBudget(5 * size)
	var (
		running sync.WaitGroup
		whole   atomic.Int64
	)
	for range 16 {
		running.Go(func() {
			ctx, release := budget.Hold(t.Context())
			defer release()
			got, err := rollout.Chat{Config: c}.Run(ctx, &sums{set: adder(t)}, prompt("user"), 1)
			if err == nil && got.Failure == nil && len(got.Turns) == 3 {
				whole.Add(1)
			}
		})
	}
	running.Wait()
	if whole.Load() != 16 {
		t.Errorf("%d of 16 trials were played", whole.Load())
	}
	ctx, release := rollout.NewBudget(2 * size).Hold(t.Context())
	defer release()
	got, err := rollout.Chat{Config: c}.Run(ctx, &sums{set: adder(t)}, prompt("user"), 1)
	if err != nil || got.Failure == nil || got.Failure.Kind != grpo.FailureServing || len(got.Turns) != 2 {
		t.Errorf("a trial over the whole budget: %+v after %d turns, %v", got.Failure, len(got.Turns), err)
	}
}

// A trial that waits for room gives up when its context ends.
func TestBudgetHonoursTheContext(t *testing.T) {
	budget := rollout.NewBudget(64 << 10)
	full := steady(t, `{"model":"m","message":{"role":"assistant","content":"`+strings.Repeat("x", 60<<10)+`"},"done":true,"done_reason":"stop","prompt_eval_count":20,"eval_count":5}`)
	first, release := budget.Hold(t.Context())
	defer release()
	if got, err := (rollout.Chat{Config: config(full)}).Run(first, &sums{set: adder(t)}, prompt("user"), 1); err != nil || got.Failure != nil {
		t.Fatalf("%+v, %v", got.Failure, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	second, releaseSecond := budget.Hold(ended)
	defer releaseSecond()
	done := make(chan error)
	go func() {
		_, err := (rollout.Chat{Config: config(full)}).Run(second, &sums{set: adder(t)}, prompt("user"), 1)
		done <- err
	}()
	cancel()
	if err := <-done; err == nil {
		t.Error("it did not give up")
	}
}

// What a URL holds besides the address gets into no message and no transcript.
func TestCredentialsOfAURLAreNotShown(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	t.Cleanup(busy.Close)
	for _, host := range []string{strings.TrimPrefix(busy.URL, "http://"), "127.0.0.1:1"} {
		c := config("http://user:secret@" + host)
		for name, route := range routes(c) {
			got, err := route.Run(t.Context(), &sums{set: adder(t)}, prompt("user"), 1)
			if err != nil || got.Failure == nil || strings.Contains(got.Failure.Reason, "secret") {
				t.Errorf("%s at %s: %+v, %v", name, host, got.Failure, err)
			}
		}
		if _, err := c.Probe(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("probe of %s: %v", host, err)
		}
		if err := (rollout.OpenAI{Config: c}).Check(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("check of %s: %v", host, err)
		}
	}
}
