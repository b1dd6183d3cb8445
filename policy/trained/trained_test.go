package trained_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolgym/policy"
	"toolgym/policy/trained"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

// TestAgent lets the agents play by their tools what they were trained for, on
// tasks of consecutive seeds.
func TestAgent(t *testing.T) {
	cases := map[string]struct {
		spec  tools.Spec
		level string
		least int // tasks solved of 100
	}{
		"stage 0":   {arithmetic.Spec(), "0", 99},
		"stage 1":   {arithmetic.Spec(), "1", 99},
		"stage 2":   {arithmetic.Spec(), "2", 99},
		"stage 3":   {arithmetic.Spec(), "3", 95},
		"gridworld": {gridworld.Spec(), "0", 100},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			agent, err := trained.Agent(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			solved, env := 0, c.spec.New()
			for seed := range uint64(100) {
				task, err := c.spec.Task(tools.Sound, c.level, seed)
				if err != nil {
					t.Fatal(err)
				}
				trajectory, err := tools.Rollout(t.Context(), env, task, agent)
				if err != nil {
					t.Fatal(err)
				}
				if trajectory.Success {
					solved++
				}
				if task.Optimal > 0 && len(trajectory.Steps) != task.Optimal {
					t.Errorf("%s: %d calls, optimal are %d", task.ID, len(trajectory.Steps), task.Optimal)
				}
			}
			if solved < c.least {
				t.Errorf("%d of 100 tasks solved", solved)
			}
		})
	}
}

func TestAgentRefuses(t *testing.T) {
	_, err := trained.Agent(research.Spec())
	var refused *tools.Error
	if !errors.As(err, &refused) || refused.Code != tools.NotFound {
		t.Errorf("got %v", err)
	}
	agent, err := trained.Agent(arithmetic.Spec())
	if err != nil {
		t.Fatal(err)
	}
	task, err := arithmetic.Spec().Task(tools.Sound, "large", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tools.Rollout(t.Context(), arithmetic.Spec().New(), task, agent)
	if !errors.As(err, &refused) || refused.Code != tools.NotFound || !strings.HasPrefix(refused.Want, "level 0, 1, 2, 3, or ") {
		t.Errorf("a level without a policy: got %v", err)
	}
}

// TestLoad takes for each level the checkpoint that was trained on it, to the bit.
func TestLoad(t *testing.T) {
	for name, c := range map[string]struct{ env, level, file string }{
		"the first of several levels":  {"arithmetic", "0", "arithmetic"},
		"the last of several levels":   {"arithmetic", "3", "arithmetic"},
		"one level of an environment":  {"gridworld", "0", "gridworld-0"},
		"another level, another file":  {"gridworld", "1", "gridworld-1"},
		"a level that nobody knows":    {"gridworld", "2", ""},
		"an environment without any":   {"research", "0", ""},
		"the beginning of a real name": {"grid", "0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			net, config, err := trained.Load(c.env, c.level)
			if c.file == "" {
				if refused, ok := errors.AsType[*tools.Error](err); !ok || refused.Code != tools.NotFound {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if config.Env != c.env || !slices.Contains(config.Levels, c.level) {
				t.Errorf("trained on %s, levels %v", config.Env, config.Levels)
			}
			again := filepath.Join(t.TempDir(), "again.safetensors")
			if err := net.Save(again, policy.Checkpoint{}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(read(t, again), read(t, c.file+".safetensors")) {
				t.Errorf("the weights are not those of %s", c.file)
			}
		})
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestSize(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		stat, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if stat.Size() > 500_000 {
			t.Errorf("%s has %d bytes, at most 500,000", e.Name(), stat.Size())
		}
	}
}

// TestPlayer tells apart what was trained on from what only looks like it.
func TestPlayer(t *testing.T) {
	player, err := trained.NewPlayer(tools.Specs{arithmetic.Spec(), gridworld.Spec(), research.Spec()})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		spec         tools.Spec
		rules, level string
		known        bool
	}{
		"a stage that was trained":      {arithmetic.Spec(), tools.Sound, "3", true},
		"a stage that the network has":  {arithmetic.Spec(), tools.Sound, "4", false},
		"a level without a stage":       {arithmetic.Spec(), tools.Sound, "large", false},
		"other rules":                   {arithmetic.Spec(), tools.Documented, "0", false},
		"another environment":           {gridworld.Spec(), tools.Sound, "0", true},
		"another of its levels":         {gridworld.Spec(), tools.Sound, "1", true},
		"a level that was not trained":  {gridworld.Spec(), tools.Sound, "2", false},
		"an environment without policy": {research.Spec(), tools.Sound, research.Spec().Levels[0], false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			task, err := c.spec.Task(c.rules, c.level, 7)
			if err != nil {
				t.Fatal(err)
			}
			trajectory, err := tools.Rollout(t.Context(), c.spec.New(), task, player)
			var refused *tools.Error
			switch {
			case player.Knows(task) != c.known:
				t.Errorf("knows: %v", !c.known)
			case c.known && (err != nil || !trajectory.Success):
				t.Errorf("not solved: %v", err)
			case !c.known && (!errors.As(err, &refused) || refused.Code != tools.NotFound):
				t.Errorf("got %v", err)
			}
		})
	}
}
