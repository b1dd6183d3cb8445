package lab

import (
	"path/filepath"
	"strings"
	"testing"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestWhoStandsInTheColumn: a policy that was trained on the task plays it, and
// whatever is otherwise is said.
func TestWhoStandsInTheColumn(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct{ env, level, seed, player, note string }{
		"an environment without a policy": {"research", "0", "17", "Oracle", "No policy can play this task (no policy is trained for \"research\"): oracle stands here instead."},
		"a level that cannot be planned":  {"arithmetic", "restraint", "17", "Oracle", "no policy is trained for level \"restraint\" of arithmetic"},
		"a level without a policy":        {"gridworld", "2", "17", "Oracle", "no policy is trained for level \"2\" of gridworld"},
		"a stage that it knows":           {"arithmetic", "2", "17", "Trained policy", ""},
		"the one layout of level 0":       {"gridworld", "0", "17", "Trained policy", ""},
		"a layout of level 1":             {"gridworld", "1", "17", "Trained policy", ""},
		"a layout that it never saw":      {"gridworld", "1", "19", "Trained policy", "Trained on level 1, though not on this task: it is one of the 10 % that were left out of training."},
	} {
		t.Run(name, func(t *testing.T) {
			v := staged(t, l, "env", c.env, "level", c.level, "seed", c.seed)
			after := v.Columns[1]
			notes := strings.Join(after.Notes, " ")
			if after.Label != c.player || !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("%s plays, and the column says %q", after.Label, notes)
			}
			if !after.Success {
				t.Errorf("%s does not solve it", after.Label)
			}
			if before := v.Columns[0]; (c.player == "Oracle") != (before.Label == "Random calls") {
				t.Errorf("before stands %s", before.Label)
			}
		})
	}
}

// TestServersOwnPolicy stands in every level of its environment, and says which
// are new to it.
func TestServersOwnPolicy(t *testing.T) {
	l := newLab(t)
	l.config.Checkpoint = filepath.Join(t.TempDir(), "own.safetensors")
	config, err := train.Default(arithmetic.Spec(), train.Choice{Levels: []string{"0"}, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: train.A2C, Pool: policy.PoolOrdered})
	if err != nil {
		t.Fatal(err)
	}
	config.Network.Hidden, config.Network.Context = 8, 6
	trainer, err := train.New(arithmetic.Spec(), config)
	if err != nil {
		t.Fatal(err)
	}
	if err := trainer.SaveNet(l.config.Checkpoint); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ env, level, note string }{
		"the level that it knows":        {"arithmetic", "0", ""},
		"a level that is new to it":      {"arithmetic", "1", "Trained on level 0 of arithmetic; level 1 is new to it."},
		"a level that it cannot read":    {"arithmetic", "4", "to the policy it is unreadable: 10 tokens, where it takes 1 to 6 tokens"},
		"an environment that is another": {"gridworld", "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			notes := strings.Join(staged(t, l, "env", c.env, "level", c.level).Columns[1].Notes, " ")
			if !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("the column says %q", notes)
			}
		})
	}
}
