package gridworld_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// start resets a new Env to the task of seed 17.
func start(t *testing.T, rules, level string) (tools.Env, tools.Task, string) {
	t.Helper()
	task, err := gridworld.Spec().Task(rules, level, 17)
	if err != nil {
		t.Fatal(err)
	}
	env := gridworld.Spec().New()
	observation, err := env.Reset(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return env, task, string(observation)
}

// TestPrompts also fixes the draws: they must be the same on every machine and in
// every release, because task ids refer to them.
func TestPrompts(t *testing.T) {
	const fetch = "Fetch the key, open the door, then reach the goal."
	tests := []struct {
		rules, level, prompt string
		optimal              int
	}{
		{"", "0", "You are at (0,0) on a 5x5 grid. The key is at (2,2), the door at (3,3), the goal at (4,4). " + fetch, 10},
		{tools.Documented, "0", "You are at (0,0) on a 5x5 grid. The key is at (2,2), the door at (3,3), the goal at (4,4). " + fetch, 10},
		{"", "1", "You are at (0,2) on a 5x5 grid. The key is at (0,0), the door at (3,1), the goal at (2,1). " + fetch, 9},
		{"", "2", "You are at (0,3) on a 8x8 grid. The key is at (0,0), the door at (4,7), the goal at (3,2). " + fetch +
			" Boxes at (0,1), (0,2), (0,4), (1,4), (3,0), (3,1), (3,7), (4,5), (7,1), (7,2).", 24},
		{"", "3", "You are at (8,6) on a 12x12 grid. The key is at (3,5), the door at (4,4), the goal at (8,2). " + fetch +
			" Boxes at (0,5), (0,6), (1,2), (1,3), (1,5), (1,6), (1,9), (2,10), (2,11), (3,1), (3,3), (4,2), (4,8), (5,6), (6,0), (6,8), (9,8), (10,7)." +
			" A wall fills the row y=4; only the door's cell passes it.", 16},
		{"", "4", "You are at (8,6) on a 12x12 grid. The goal is at (8,2). You see 2 cells far, now: wall at (6,4), wall at (7,4), wall at (8,4), wall at (9,4)," +
			" wall at (10,4), box at (10,7), box at (6,8), box at (9,8). Call look to see what is around you. " + fetch, 16},
	}
	for _, test := range tests {
		t.Run(test.level+" "+test.rules, func(t *testing.T) {
			_, task, _ := start(t, test.rules, test.level)
			if diff := cmp.Diff([]tools.Message{{Role: "user", Content: test.prompt}}, task.Prompt); diff != "" {
				t.Error(diff)
			}
			if task.Optimal != test.optimal {
				t.Errorf("optimal %d, want %d", task.Optimal, test.optimal)
			}
		})
	}
}

func TestResults(t *testing.T) {
	tests := []struct{ name, level, calls, want string }{
		{"observation", "0", "", `{"agent":[0,0],"has_key":false,"door_open":false,"at_goal":false}`},
		{"a move", "0", "move_right", `{"agent":[1,0],"has_key":false,"door_open":false,"at_goal":false}`},
		{"a blocked move", "0", "move_left", `{"agent":[0,0],"has_key":false,"door_open":false,"at_goal":false,"note":"the edge of the grid is in the way"}`},
		{"an action without effect", "0", "open_door", `{"agent":[0,0],"has_key":false,"door_open":false,"at_goal":false,"note":"the door is not here"}`},
		{"look", "4", "look", `{"agent":[8,6],"has_key":false,"door_open":false,"at_goal":false,"sight":{"from":[6,4],"to":[10,8],"things":[` +
			`{"cell":[6,4],"is":"wall"},{"cell":[7,4],"is":"wall"},{"cell":[8,4],"is":"wall"},{"cell":[9,4],"is":"wall"},{"cell":[10,4],"is":"wall"},` +
			`{"cell":[10,7],"is":"box"},{"cell":[6,8],"is":"box"},{"cell":[9,8],"is":"box"}]}}`},
		{"look at another level", "3", "look", `{"error":"unknown tool \"look\"; the tools are move_up, move_down, move_left, move_right, pickup_key, open_door"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env, _, got := start(t, "", test.level)
			for name := range strings.FieldsSeq(test.calls) {
				step, err := env.Step(t.Context(), tools.Call{Name: name})
				if err != nil {
					t.Fatal(err)
				}
				if step.Reward != -0.1 {
					t.Errorf("reward %v, want -0.1", step.Reward)
				}
				got = string(step.Result.Content)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToolOrder(t *testing.T) {
	const six = "move_up move_down move_left move_right pickup_key open_door"
	tests := []struct{ rules, level, want string }{
		{"", "", six}, {tools.Sound, "3", six}, {tools.Sound, "4", six + " look"}, {tools.Documented, "", six}, {tools.Documented, "1", ""}, {"unknown", "", ""},
	}
	for _, test := range tests {
		t.Run(test.rules+" "+test.level, func(t *testing.T) {
			if got := strings.Join(gridworld.Spec().Tools(test.rules, test.level).Names(), " "); got != test.want {
				t.Errorf("tools %q, want %q", got, test.want)
			}
		})
	}
}

func TestEnumeratorContext(t *testing.T) {
	tests := []struct {
		level string
		want  []int
		limit int
	}{
		{"0", []int{0, 0, 2, 2, 3, 3, 4, 4}, 50},
		{"1", []int{0, 2, 0, 0, 3, 1, 2, 1}, 50},
		{"2", []int{0, 3, 0, 0, 4, 7, 3, 2, 0, 1, 0, 2, 0, 4, 1, 4, 3, 0, 3, 1, 3, 7, 4, 5, 7, 1, 7, 2}, 120},
		{"3", []int{0, 8, 0, 6, 0, 3, 0, 5, 0, 4, 0, 4, 0, 8, 0, 2, 0, 0, 0, 0, 5, 0, 0, 0, 6}, 80},
	}
	for _, test := range tests {
		t.Run("level "+test.level, func(t *testing.T) {
			e := gridworld.NewEnumerator()
			if err := e.Start(tools.Sound, test.level, 17); err != nil {
				t.Fatal(err)
			}
			got := e.Context(nil)
			if diff := cmp.Diff(test.want, got[:min(len(got), 28, len(test.want))]); diff != "" || e.Limit() != test.limit {
				t.Errorf("limit %d, want %d; context:\n%s", e.Limit(), test.limit, diff)
			}
			w := open(t, test.level, 17)
			done := false
			for _, action := range w.Path() {
				_, done = e.Act(11 + int(action))
			}
			if !done || !e.Success() || e.HasShortcut() {
				t.Errorf("done %v, success %v on the shortest path", done, e.Success())
			}
		})
	}
}

// TestCalls plays the calls of a shortest path.
func TestCalls(t *testing.T) {
	env, task, _ := start(t, "", "2")
	w := open(t, "2", 17)
	var plan []int
	for _, action := range w.Path() {
		plan = append(plan, 11+int(action))
	}
	calls, err := gridworld.NewEnumerator().Calls(task, append(plan, 11, 17, 12))
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != task.Optimal {
		t.Errorf("%d calls, want %d", len(calls), task.Optimal)
	}
	for _, call := range calls {
		if _, err := env.Step(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	if !env.Success() {
		t.Error("the plan solves the task, but its calls do not")
	}
}

func TestEpisodeSize(t *testing.T) { testkit.CheckEpisodeSize(t, gridworld.Spec(), "3", 2000) }
