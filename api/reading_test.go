package api_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/tools"
)

// TestClientReads goes through what the client can ask for.
func TestClientReads(t *testing.T) {
	c := dial(t, serve(t, api.Config{}).url)
	ctx := t.Context()
	envs, err := c.Envs(ctx)
	if err != nil || len(envs) != 1 || envs[0].Name != "tally" {
		t.Errorf("Envs: %v %v", envs, err)
	}
	set, err := c.Tools(ctx, "tally", tools.Documented, "spoken")
	if diff := cmp.Diff(tallyTools().Names(), set.Names()); diff != "" || err != nil {
		t.Errorf("Tools: %v %s", err, diff)
	}
	if got := set[0].Validate(json.RawMessage(`{"n":101}`)); len(got) != 1 {
		t.Errorf("a tool that came over the wire does not check arguments: %v", got)
	}
	tasks, err := c.Tasks(ctx, "tally", "", "spoken", math.MaxUint64-1, 2)
	if err != nil || len(tasks) != 2 || tasks[1].Seed != math.MaxUint64 {
		t.Errorf("Tasks: %v %v", tasks, err)
	}
	result, err := c.CallTool(ctx, "square", json.RawMessage(`{"x":7}`))
	if err != nil || string(result.Content) != `{"result":49}` {
		t.Errorf("CallTool: %s %v", result.Content, err)
	}
	if err := c.Ready(ctx); err != nil {
		t.Errorf("Ready: %v", err)
	}
}

func TestClientPages(t *testing.T) {
	c := dial(t, serve(t, api.Config{}).url)
	for range 5 {
		start(t, c, "tally/0/1")
	}
	var sizes []int
	for cursor, more := "", true; more; {
		page, err := c.Episodes(t.Context(), cursor, 2)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page.Episodes))
		cursor, more = page.NextCursor, page.NextCursor != ""
	}
	if diff := cmp.Diff([]int{2, 2, 1}, sizes); diff != "" {
		t.Error(diff)
	}
}

func TestClientForksAndOpens(t *testing.T) {
	c := dial(t, serve(t, api.Config{}).url)
	first := start(t, c, "tally/0/3")
	step(t, first, "add", `{"n":1}`)
	fork, err := first.Fork(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	step(t, first, "add", `{"n":100}`)
	step(t, fork, "add", `{"n":2}`)
	opened, err := c.Open(t.Context(), fork.ID())
	if err != nil {
		t.Fatal(err)
	}
	if last := step(t, opened, "done", `{}`); !last.Terminated || last.Reward != 1 {
		t.Errorf("%+v, want the end and a reward of 1", last)
	}
	path, err := opened.Trajectory(t.Context())
	if err != nil || len(path.Steps) != 3 || !path.Success {
		t.Errorf("%+v %v", path, err)
	}
	if opened.Task().ID != "tally/0/3" || string(opened.Observation()) != `{"sum":0}` {
		t.Errorf("opened %s at %s", opened.Task().ID, opened.Observation())
	}
}

// TestServerFaultsAreNoRefusals: what went wrong on the server is not the
// caller's error, and says under which id to look.
func TestServerFaultsAreNoRefusals(t *testing.T) {
	c := dial(t, serve(t, api.Config{}).url)
	_, err := c.CallTool(t.Context(), "square", json.RawMessage(`{"x":13}`))
	if e := (*tools.Error)(nil); err == nil || errors.As(err, &e) || !strings.Contains(err.Error(), "id-") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v, want an ordinary error with a request id", err)
	}
}
