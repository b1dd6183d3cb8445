package gridworld_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/tools"
	"toolgym/tools/envtest"
	"toolgym/tools/gridworld"
)

// spell returns the actions of letters: u d l r, k key, o door, s look, w wait.
func spell(letters string) []gridworld.Action {
	alphabet := map[rune]gridworld.Action{
		'u': gridworld.MoveUp, 'd': gridworld.MoveDown, 'l': gridworld.MoveLeft, 'r': gridworld.MoveRight,
		'k': gridworld.PickupKey, 'o': gridworld.OpenDoor, 's': gridworld.Look, 'w': gridworld.Wait,
	}
	var plan []gridworld.Action
	for _, letter := range letters {
		plan = append(plan, alphabet[letter])
	}
	return plan
}

func walk(w *gridworld.World, letters string) (total, last float64, done bool) {
	for _, a := range spell(letters) {
		last, done = w.Step(a)
		total += last
	}
	return total, last, done
}

// TestStep checks the last action of a plan. The layout with a wall is that of level
// 3, seed 17:
//
//	start (8,6), key (3,5), door (4,4), goal (8,2), a wall along y=4, boxes
//	at (5,6), (6,8), (10,7) and elsewhere
func TestStep(t *testing.T) {
	published := gridworld.NewWorld(gridworld.Published())
	walled := open(t, "3", 17)
	toKey := "dlllllk"
	tests := []struct {
		name   string
		world  gridworld.World
		plan   string
		reward float64
		state  string // agent, "key", "open", note
		done   bool
	}{
		{"a move", published, "r", -0.1, "(1,0)", false},
		{"the left edge", published, "l", -0.1, "(0,0): the edge of the grid is in the way", false},
		{"the lower edge", published, "rd", -0.1, "(1,0): the edge of the grid is in the way", false},
		{"the upper edge", published, "uuuuu", -0.1, "(0,4): the edge of the grid is in the way", false},
		{"the right edge", published, "rrrrr", -0.1, "(4,0): the edge of the grid is in the way", false},
		{"no box at (1,3)", published, "ruuu", -0.1, "(1,3)", false},
		{"the key elsewhere", published, "k", -0.1, "(0,0): the key is not here", false},
		{"the key", published, "rruuk", 1, "(2,2) key", false},
		{"the key again", published, "rruukk", -0.1, "(2,2) key: you hold the key already", false},
		{"the door elsewhere", published, "o", -0.1, "(0,0): the door is not here", false},
		{"the door without key", published, "rrruuuo", -0.1, "(3,3): the door opens only with the key", false},
		{"the door", published, "rruukruo", 2, "(3,3) key open", false},
		{"the door again", published, "rruukruoo", -0.1, "(3,3) key open: the door is open already", false},
		{"the goal with a closed door", published, "rrrruuuu", -0.1, "(4,4)", false},
		{"the goal", published, "rruukruoru", 10, "(4,4) key open", true},
		{"after the end", published, "rruukruoruk", 0, "(4,4) key open", true},
		{"waiting", published, "lw", -0.1, "(0,0)", false},
		{"no note after a move with effect", published, "lr", -0.1, "(1,0)", false},
		{"a box", walled, "lll", -0.1, "(6,6): a box is in the way", false},
		{"the wall", walled, "dd", -0.1, "(8,5): the wall is in the way", false},
		{"the closed door's cell", walled, "dlllld", -0.1, "(4,4)", false},
		{"the closed door", walled, "dlllldd", -0.1, "(4,4): the door is closed: open it first", false},
		{"back from the closed door", walled, "dlllldu", -0.1, "(4,5)", false},
		{"along the wall from the door", walled, "dlllldr", -0.1, "(4,4): the wall is in the way", false},
		{"through the open door", walled, toKey + "rdod", -0.1, "(4,3) key open", false},
		{"and back", walled, toKey + "rdodu", -0.1, "(4,4) key open", false},
		{"the far goal", walled, toKey + "rdodrdrrr", 10, "(8,2) key open", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := test.world
			_, reward, done := walk(&w, test.plan)
			got := describe(w.State())
			if reward != test.reward || done != test.done || got != test.state {
				t.Errorf("reward %v, done %v, state %q; want %v, %v, %q", reward, done, got, test.reward, test.done, test.state)
			}
		})
	}
}

// describe returns the state as text.
func describe(s gridworld.State) string {
	text := s.Agent.String()
	if s.HasKey {
		text += " key"
	}
	if s.DoorOpen {
		text += " open"
	}
	if s.Note != "" {
		text += ": " + s.Note
	}
	return text
}

func open(t *testing.T, level string, seed uint64) gridworld.World {
	t.Helper()
	w, err := gridworld.Open(tools.Sound, level, seed)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestRepeatedDoor opens the door 41 times, which is the best plan under the
// documented rules. The sound rules reward it once.
func TestRepeatedDoor(t *testing.T) {
	plan := "rruukru" + strings.Repeat("o", 41) + "ru"
	documented, sound := gridworld.NewDocumented(), gridworld.NewWorld(gridworld.Published())
	if total, _, done := walk(&documented, plan); math.Abs(total-92.3) > 1e-9 || !done || documented.Steps() != 50 {
		t.Errorf("documented: %v in %d steps; want 92.3 in 50", total, documented.Steps())
	}
	if total, _, _ := walk(&sound, plan); math.Abs(total-8.3) > 1e-9 {
		t.Errorf("sound: %v; want 8.3", total)
	}
	shortest := gridworld.NewDocumented()
	if total, _, _ := walk(&shortest, "rruukruoru"); math.Abs(total-12.3) > 1e-9 || shortest.Steps() != 10 {
		t.Errorf("shortest: %v in %d steps; want 12.3 in 10", total, shortest.Steps())
	}
}

func TestLimit(t *testing.T) {
	for _, level := range []string{"0", "2", "3"} {
		t.Run("level "+level, func(t *testing.T) {
			w := open(t, level, 17)
			if want := max(50, 5*w.Layout().Optimal()); w.Limit() != want {
				t.Errorf("limit %d, want %d", w.Limit(), want)
			}
			_, _, done := walk(&w, strings.Repeat("w", w.Limit()-1))
			if done {
				t.Error("done before the limit")
			}
			if _, done := w.Step(gridworld.Wait); !done || w.Success() {
				t.Errorf("done %v, success %v at the limit", done, w.Success())
			}
		})
	}
}

func TestPath(t *testing.T) {
	w := open(t, "3", 17)
	for left := w.Layout().Optimal(); left > 0; left-- {
		path := w.Path()
		if len(path) != left {
			t.Fatalf("%d actions from %+v, want %d", len(path), w.State(), left)
		}
		w.Step(path[0])
	}
	if w.Path() != nil || !w.Success() {
		t.Errorf("path %v, success %v at the goal", w.Path(), w.Success())
	}
}

func TestText(t *testing.T) {
	w := open(t, "3", 17)
	walk(&w, "dlllllkrdod")
	want := `
11  .  .  #  .  .  .  .  .  .  .  .  .
10  .  .  #  .  .  .  .  .  .  .  .  .
 9  .  #  .  .  .  .  .  .  .  .  .  .
 8  .  .  .  .  #  .  #  .  .  #  .  .
 7  .  .  .  .  .  .  .  .  .  .  #  .
 6  #  #  .  .  .  #  .  .  .  .  .  .
 5  #  #  .  .  .  .  .  .  .  .  .  .
 4  =  =  =  =  O  =  =  =  =  =  =  =
 3  .  #  .  #  A  .  .  .  .  .  .  .
 2  .  #  .  .  #  .  .  .  G  .  .  .
 1  .  .  .  #  .  .  .  .  .  .  .  .
 0  .  .  .  .  .  .  #  .  .  .  .  .
    0  1  2  3  4  5  6  7  8  9 10 11
`
	if diff := cmp.Diff(want, "\n"+w.Text()); diff != "" {
		t.Error(diff)
	}
}

func TestContract(t *testing.T) { envtest.Run(t, gridworld.Spec()) }

// goldenStep is a step of the golden file; the tools return a part of it.
type goldenStep struct {
	Reward   float64 `json:"reward"`
	Done     bool    `json:"done"`
	Agent    [2]int  `json:"agent"`
	HasKey   bool    `json:"has_key"`
	DoorOpen bool    `json:"door_open"`
	AtGoal   bool    `json:"at_goal"`
}

// TestDocumentedGolden plays all episodes of the published rules in testdata with
// the tools.
func TestDocumentedGolden(t *testing.T) {
	f, err := os.Open("testdata/gridworld_documented.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	task, err := gridworld.Spec().Task(tools.Documented, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	traces := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); traces++ {
		var trace struct {
			Name  string
			Steps []struct {
				Action string
				goldenStep
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &trace); err != nil {
			t.Fatal(err)
		}
		env := gridworld.Spec().New()
		if _, err := env.Reset(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		for i, want := range trace.Steps {
			step, err := env.Step(t.Context(), tools.Call{Name: want.Action})
			if err != nil {
				t.Fatal(err)
			}
			got := goldenStep{Reward: step.Reward, Done: step.Done()}
			if err := json.Unmarshal(step.Result.Content, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.goldenStep, got); diff != "" {
				t.Errorf("%s, step %d (-want +got):\n%s", trace.Name, i, diff)
			}
		}
	}
	if err := lines.Err(); err != nil || traces != 61 {
		t.Errorf("got %d episodes, %v; want 61", traces, err)
	}
}
