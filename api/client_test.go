package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/baseline"
	"toolgym/tools/gridworld"
)

// dial makes a client of a server.
func dial(t *testing.T, url string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: url, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestPlayingOverRESTIsPlaying: an agent's trajectory is the same, to the byte,
// in process and over REST.
func TestPlayingOverRESTIsPlaying(t *testing.T) {
	specs := tools.Specs{arithmetic.Spec(), gridworld.Spec(), tallySpec(nil)}
	f := serve(t, api.Config{Specs: specs})
	agents := map[string]func(tools.Spec) tools.Agent{
		"oracle": func(spec tools.Spec) tools.Agent { return spec.Oracle },
		"random": func(tools.Spec) tools.Agent { return baseline.Random(rand.NewPCG(1, 2)) },
		"talker": func(tools.Spec) tools.Agent { return talker{} },
	}
	c := dial(t, f.url)
	for _, taskID := range []string{"arithmetic/0/1", "arithmetic/2/18446744073709551615", "arithmetic/grounded/3", "arithmetic/restraint/4", "arithmetic/1/2@documented",
		"gridworld/0/1", "gridworld/3/18446744073709551615", "gridworld/4/5", "gridworld/0/1@documented", "tally/spoken/7"} {
		for name, agent := range agents {
			spec, task, err := specs.Task(taskID)
			if err != nil {
				t.Fatal(err)
			}
			if spec.Name == "tally" && name != "talker" { // it has no oracle, and fails on purpose
				continue
			}
			t.Run(name+" "+taskID, func(t *testing.T) {
				want, err := tools.Rollout(t.Context(), spec.New(), task, agent(spec))
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.Play(t.Context(), taskID, agent(spec))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(written(t, want), written(t, got)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	if page, err := c.Episodes(t.Context(), "", 10); err != nil || len(page.Episodes) != 0 {
		t.Errorf("episodes are left behind: %v %v", page, err)
	}
}

func written(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// talker makes a mistake, says something, and gives up.
type talker struct{}

func (talker) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	step, err := caller.Step(ctx, tools.Call{Name: "nothing", Arguments: json.RawMessage(`{"a": [1, 2.50]}`)})
	if err != nil || step.Done() {
		return err
	}
	_, err = caller.(tools.Speaker).Say(ctx, "Grüße, <b>world</b> & \u2028")
	return err
}

// A lossy connection lets the server do its work and then loses every other
// answer.
type lossy struct {
	handler http.Handler
	mu      sync.Mutex
	asked   int
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.asked++
	lost := l.asked%2 == 0
	l.mu.Unlock()
	if !lost {
		l.handler.ServeHTTP(w, r)
		return
	}
	l.handler.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

func TestLostAnswersLoseNoStep(t *testing.T) {
	f := serve(t, api.Config{})
	lossy := httptest.NewServer(&lossy{handler: f.server})
	t.Cleanup(lossy.Close)
	ctx := t.Context()
	episode, err := dial(t, lossy.URL).Start(ctx, "tally/endless/1")
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 20; n++ {
		step, err := episode.Step(ctx, tools.Call{Name: "add", Arguments: json.RawMessage(`{"n":1}`)})
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(`{"sum":%d}`, n); string(step.Result.Content) != want {
			t.Fatalf("step %d: %s, want %s", n, step.Result.Content, want)
		}
	}
	state, err := episode.State(ctx)
	if err != nil || state.Step != 20 {
		t.Errorf("%d steps, want 20: %v", state.Step, err)
	}
}

// TestErrorsCrossTheWire: what the server refuses is the same tools.Error on
// the client's side.
func TestErrorsCrossTheWire(t *testing.T) {
	f := serve(t, api.Config{MaxEpisodes: 2})
	c := dial(t, f.url)
	ctx := t.Context()
	ended := start(t, c, "tally/0/0")
	step(t, ended, "done", `{}`)
	tests := []struct {
		name, code, where string
		do                func() error
	}{
		{"unknown environment", tools.NotFound, "/task_id", func() error { _, err := c.Start(ctx, "other/0/1"); return err }},
		{"malformed id", tools.Invalid, "/task_id", func() error { _, err := c.Start(ctx, "tally"); return err }},
		{"unknown level", tools.Invalid, "level", func() error { _, err := c.Tools(ctx, "tally", "", "9"); return err }},
		{"seeds end", tools.Invalid, "n", func() error { _, err := c.Tasks(ctx, "tally", "", "", math.MaxUint64, 2); return err }},
		{"tool of an episode", tools.Conflict, "name", func() error { _, err := c.CallTool(ctx, "add", nil); return err }},
		{"unknown tool", tools.NotFound, "name", func() error { _, err := c.CallTool(ctx, "a/b?c", nil); return err }},
		{"call after the end", tools.Conflict, "", func() error { _, err := ended.Step(ctx, tools.Call{Name: "done"}); return err }},
		{"call of nothing", tools.Invalid, "/name", func() error { _, err := ended.Step(ctx, tools.Call{}); return err }},
		{"unknown episode", tools.NotFound, "id", func() error { _, err := c.Open(ctx, "none"); return err }},
		{"expired", tools.Gone, "id", func() error { f.wait(time.Hour); return ended.Close(ctx) }},
		{"full", tools.Exhausted, "", func() error {
			start(t, c, "tally/0/1")
			start(t, c, "tally/0/1")
			_, err := c.Start(ctx, "tally/0/1")
			return err
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.do()
			e := (*tools.Error)(nil)
			if !errors.As(err, &e) || e.Code != test.code || e.Where != test.where || e.Message == "" {
				t.Errorf("%#v, want %s at %q", err, test.code, test.where)
			}
		})
	}
}

func start(t *testing.T, c *client.Client, taskID string) *client.Episode {
	t.Helper()
	e, err := c.Start(t.Context(), taskID)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func step(t *testing.T, e *client.Episode, name, arguments string) tools.Step {
	t.Helper()
	s, err := e.Step(t.Context(), tools.Call{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
