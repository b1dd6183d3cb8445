package train_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

func TestDefaultRefuses(t *testing.T) {
	cases := map[string]struct {
		spec   tools.Spec
		change func(*train.Choice)
		reason string
	}{
		"an unknown stage":                  {arithmetic.Spec(), func(c *train.Choice) { c.Levels = []string{"0", "9"} }, "0 to 4"},
		"a level that is no stage":          {arithmetic.Spec(), func(c *train.Choice) { c.Levels = []string{"large"} }, "large"},
		"a stage of the other rules":        {arithmetic.Spec(), func(c *train.Choice) { c.Levels, c.Rules = []string{"3"}, tools.Documented }, "0 to 2"},
		"no stage":                          {arithmetic.Spec(), func(c *train.Choice) { c.Levels = nil }, "at least one"},
		"a stage twice":                     {arithmetic.Spec(), func(c *train.Choice) { c.Levels = []string{"1", "1"} }, "duplicate stage"},
		"an unknown pool":                   {arithmetic.Spec(), func(c *train.Choice) { c.Pool = "deep" }, "batch, own, ordered"},
		"unknown rules":                     {arithmetic.Spec(), func(c *train.Choice) { c.Rules = "strict" }, "strict"},
		"an unknown curriculum":             {arithmetic.Spec(), func(c *train.Choice) { c.Curriculum = "none" }, "mastery, documented"},
		"an unknown algorithm":              {arithmetic.Spec(), func(c *train.Choice) { c.Algorithm = "ppo" }, "a2c, grpo"},
		"the published order of others":     {arithmetic.Spec(), func(c *train.Choice) { c.Levels, c.Curriculum = []string{"0"}, train.Published }, "0,1,2"},
		"a level that hides its layout":     {gridworld.Spec(), func(c *train.Choice) { c.Levels = []string{"4"} }, "0 to 3"},
		"an environment without Enumerator": {research.Spec(), func(*train.Choice) {}, "has no plans"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			choice := sound(train.A2C, 0)
			c.change(&choice)
			_, err := train.Default(c.spec, choice)
			wantRefused(t, err, c.reason)
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*train.Config)
		where  string
	}{
		"no updates":             {func(c *train.Config) { c.Updates = 0 }, "updates"},
		"negative updates":       {func(c *train.Config) { c.Updates = -1 }, "updates"},
		"no tasks":               {func(c *train.Config) { c.Tasks = 0 }, "tasks"},
		"no evaluations":         {func(c *train.Config) { c.Evaluate = 0 }, "evaluate"},
		"a group of one":         {func(c *train.Config) { c.Group = 1 }, "group"},
		"a group that is uneven": {func(c *train.Config) { c.Group = 7 }, "group"},
		"all tasks held out":     {func(c *train.Config) { c.HoldOut = 1 }, "hold_out"},
		"a share that is NaN":    {func(c *train.Config) { c.HoldOut = math.NaN() }, "hold_out"},
		"scale zero":             {func(c *train.Config) { c.Scale = 0 }, "scale"},
		"an endless scale":       {func(c *train.Config) { c.Scale = math.Inf(1) }, "scale"},
		"a cost that is NaN":     {func(c *train.Config) { c.Cost = math.NaN() }, "cost"},
		"idling without end":     {func(c *train.Config) { c.Idle = math.Inf(-1) }, "idle"},
		"negative convergence":   {func(c *train.Config) { c.Convergence = -1 }, "convergence"},
		"zero width":             {func(c *train.Config) { c.Network.Hidden = 0 }, "hidden"},
		"a negative batch":       {func(c *train.Config) { c.Network.Batch = -8 }, "batch"},
		"another environment":    {func(c *train.Config) { c.Env = "gridworld" }, "env"},
	} {
		t.Run(name, func(t *testing.T) {
			config := configured(t, arithmetic.Spec(), sound(train.GRPO, 0), c.change)
			_, err := train.New(arithmetic.Spec(), config)
			var refused *tools.Error
			if !errors.As(err, &refused) || refused.Where != c.where {
				t.Errorf("got %v, want a refusal of %s", err, c.where)
			}
		})
	}
}

// TestAllHeldOut holds out the only layout of level 0.
func TestAllHeldOut(t *testing.T) {
	choice := sound(train.A2C, 0)
	choice.Levels = []string{"0"}
	config := configured(t, gridworld.Spec(), choice, func(c *train.Config) {
		c.HoldOut, c.Network.Batch, c.Updates = 0.999999, 8, 1
	})
	_, err := started(t, gridworld.Spec(), config).Run(t.Context(), train.Options{})
	wantRefused(t, err, "no task of level")
}

// TestDivergence trains at a rate at which numbers overflow. The error names the
// update, counted over the whole run, and the checkpoint before it.
func TestDivergence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.safetensors")
	config := small(t, sound(train.A2C, 1), 100)
	config.Network.LearningRate = 1e38
	trainer := started(t, arithmetic.Spec(), config)
	_, err := trainer.Run(t.Context(), train.Options{Checkpoint: path})
	diverged, ok := errors.AsType[*policy.DivergedError](err)
	if !ok || diverged.Update != trainer.Updates()+1 {
		t.Fatalf("got %v after %d updates", err, trainer.Updates())
	}
	if want := "the last good checkpoint is " + path + ", of update 0"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say %q", err, want)
	}
	if again, err := train.Resume(specs(), path, 0); err != nil || again.Updates() != 0 {
		t.Errorf("the checkpoint does not resume: %v", err)
	}
}

// TestDivergenceLeavesACheckpointThatResumes saves after every update, on the way to
// numbers that overflow.
func TestDivergenceLeavesACheckpointThatResumes(t *testing.T) {
	for name, rate := range map[string]float64{"at once": 1e38, "later": 1e30} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "policy.safetensors")
			config := small(t, sound(train.A2C, 1), 100)
			config.Network.LearningRate, config.Evaluate, config.Check = rate, 1, 4
			trainer := started(t, arithmetic.Spec(), config)
			_, err := trainer.Run(t.Context(), train.Options{Checkpoint: path})
			if err != nil {
				if _, ok := errors.AsType[*policy.DivergedError](err); !ok {
					t.Fatal(err)
				}
			}
			if again, err := train.Resume(specs(), path, 0); err != nil || again.Updates() != trainer.Updates() {
				t.Errorf("after %d updates the checkpoint does not resume: %v", trainer.Updates(), err)
			}
		})
	}
}
