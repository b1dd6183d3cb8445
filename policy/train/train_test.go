package train_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy"
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

// specs are the environments that checkpoints may name.
func specs() tools.Specs { return tools.Specs{arithmetic.Spec(), gridworld.Spec()} }

// chosen is a choice over the three published stages.
func chosen(rules, curriculum, algorithm, pool string, seed uint64) train.Choice {
	return train.Choice{Levels: []string{"0", "1", "2"}, Rules: rules, Curriculum: curriculum, Algorithm: algorithm, Pool: pool, Seed: seed}
}

func sound(algorithm string, seed uint64) train.Choice {
	return chosen(tools.Sound, train.Mastery, algorithm, policy.PoolOrdered, seed)
}

// configured is a choice's configuration after some changes.
func configured(t *testing.T, spec tools.Spec, choice train.Choice, change func(*train.Config)) train.Config {
	t.Helper()
	c, err := train.Default(spec, choice)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&c)
	}
	return c
}

func started(t *testing.T, spec tools.Spec, c train.Config) *train.Trainer {
	t.Helper()
	trainer, err := train.New(spec, c)
	if err != nil {
		t.Fatal(err)
	}
	return trainer
}

// finished runs a trainer to its end and returns its records too.
func finished(t *testing.T, trainer *train.Trainer, o train.Options) (train.Result, []telemetry.Record) {
	t.Helper()
	var records []telemetry.Record
	o.Observe = func(r telemetry.Record) error {
		records = append(records, r)
		return nil
	}
	result, err := trainer.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return result, records
}

// TestMastery is a small share of policy/RESULTS.md.
func TestMastery(t *testing.T) {
	cases := map[string]struct {
		choice train.Choice
		reward []float64 // the least
	}{
		"sound, GRPO":     {sound(train.GRPO, 1), []float64{1.48, 1.48, 1.48}},
		"documented, A2C": {chosen(tools.Documented, train.Mastery, train.A2C, policy.PoolBatch, 1), []float64{1.05, 1.10, 1.02}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := configured(t, arithmetic.Spec(), c.choice, func(c *train.Config) { c.Network.Compare = false })
			result, _ := finished(t, started(t, arithmetic.Spec(), config), train.Options{})
			for i, least := range c.reward {
				if result.Success[i] < 0.99 || result.Reward[i] < least {
					t.Errorf("stage %d: success %.3f, reward %.3f, want 0.99 and %.2f; plan %s", i, result.Success[i], result.Reward[i], least, result.Plan[i])
				}
			}
			if !result.Done || result.Updates >= config.Updates {
				t.Errorf("%d updates of %d, done %t", result.Updates, config.Updates, result.Done)
			}
		})
	}
}

// TestUnseen trains where operators are drawn, and plays tasks whose context
// was never in training.
func TestUnseen(t *testing.T) {
	choice := sound(train.GRPO, 1)
	choice.Levels = []string{"3"}
	config := configured(t, arithmetic.Spec(), choice, func(c *train.Config) { c.HoldOut, c.Network.Compare = 0.1, false })
	result, _ := finished(t, started(t, arithmetic.Spec(), config), train.Options{})
	if result.Success[0] < 0.9 {
		t.Errorf("success %.3f after %d updates", result.Success[0], result.Updates)
	}
}

// small is a run of 24 episodes an update, which does not reach mastery.
func small(t *testing.T, choice train.Choice, updates int) train.Config {
	return configured(t, arithmetic.Spec(), choice, func(c *train.Config) {
		c.Updates, c.Evaluate, c.Check, c.Tasks, c.Patience = updates, 20, 20, 50, 30
		c.Network.Hidden, c.Network.Batch = 16, 24
	})
}

// TestResume stops a run after half of its updates, and wants the records of
// one that was not stopped. Restarts are in both halves.
func TestResume(t *testing.T) {
	for name, choice := range map[string]train.Choice{
		"grpo": sound(train.GRPO, 5), "a2c": sound(train.A2C, 5),
		"documented": chosen(tools.Documented, train.Published, train.A2C, policy.PoolBatch, 5),
	} {
		t.Run(name, func(t *testing.T) {
			total := 200
			if name == "documented" {
				total = 60
			}
			want, wantRecords := finished(t, started(t, arithmetic.Spec(), small(t, choice, total)), train.Options{})
			path := filepath.Join(t.TempDir(), "policy.safetensors")
			_, gotRecords := finished(t, started(t, arithmetic.Spec(), small(t, choice, total/2)), train.Options{Checkpoint: path})
			trainer, err := train.Resume(specs(), path, total)
			if err != nil {
				t.Fatal(err)
			}
			got, rest := finished(t, trainer, train.Options{Checkpoint: path})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("in one go (-) and resumed (+):\n%s", diff)
			}
			if diff := cmp.Diff(wantRecords, append(gotRecords, rest...)); diff != "" {
				t.Errorf("in one go (-) and resumed (+):\n%s", diff)
			}
			if name != "documented" && want.Restarts < 2 {
				t.Errorf("%d restarts: the test means to go through some", want.Restarts)
			}
		})
	}
}

// TestStop ends the context in the middle: the checkpoint is of that update.
func TestStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.safetensors")
	ctx, stop := context.WithCancel(t.Context())
	trainer := started(t, arithmetic.Spec(), small(t, sound(train.A2C, 1), 100))
	result, err := trainer.Run(ctx, train.Options{Checkpoint: path, Observe: func(r telemetry.Record) error {
		if r.Update == 33 {
			stop()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || result.Done || result.Updates != 33 {
		t.Fatalf("%+v, %v", result, err)
	}
	resumed, err := train.Resume(specs(), path, 0)
	if err != nil || resumed.Updates() != 33 || resumed.Config().Updates != 100 {
		t.Errorf("resumed at %v: %v", resumed, err)
	}
}

func TestResumeRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.safetensors")
	finished(t, started(t, arithmetic.Spec(), small(t, sound(train.A2C, 1), 10)), train.Options{Checkpoint: path})
	t.Run("a finished run", func(t *testing.T) {
		trainer, err := train.Resume(specs(), path, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = trainer.Run(t.Context(), train.Options{})
		wantRefused(t, err, "after 10 of 10 updates")
	})
	t.Run("nothing", func(t *testing.T) {
		_, err := train.Resume(specs(), filepath.Join(t.TempDir(), "none"), 0)
		wantRefused(t, err, "no such file")
	})
	t.Run("an environment that is not there", func(t *testing.T) {
		_, err := train.Resume(tools.Specs{gridworld.Spec()}, path, 0)
		wantRefused(t, err, "arithmetic")
	})
	for name, change := range map[string][3]string{
		"a level too few":         {`"levels":["0","1","2"]`, `"levels":["0","1"]`, ": progress: its numbers are inconsistent"},
		"an unknown field":        {`"restarts"`, `"restart"`, `: progress: json: unknown field "restart"`},
		"a broken random":         {`"random":"`, `"random":"AAAA`, ": random: "},
		"a rate beyond all":       {`"rates":[`, `"rates":[7`, ": progress/rates/0: 7"},
		"updates of another run":  {`"since":0`, `"since":4`, ": update: 10 updates; expected 6"},
		"an algorithm of another": {`"algorithm":"a2c"`, `"algorithm":"ppo"`, ": algorithm: "},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := strings.TrimSuffix(path, ".safetensors") + ".json"
			content, err := os.ReadFile(sidecar)
			if err != nil {
				t.Fatal(err)
			}
			broken := filepath.Join(t.TempDir(), "policy.safetensors")
			weights, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(content), change[0], change[1], 1)
			if changed == string(content) {
				t.Fatalf("there is no %s in it", change[0])
			}
			if err := errors.Join(os.WriteFile(broken, weights, 0o644), os.WriteFile(strings.TrimSuffix(broken, ".safetensors")+".json", []byte(changed), 0o644)); err != nil {
				t.Fatal(err)
			}
			_, err = train.Resume(specs(), broken, 0)
			wantRefused(t, err, broken+change[2])
		})
	}
}

// wantRefused wants a caller's mistake that gives the reason.
func wantRefused(t *testing.T, err error, reason string) {
	t.Helper()
	var refused *tools.Error
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), reason) {
		t.Errorf("got %v, want a refusal with %q", err, reason)
	}
}
