package trained_test

import (
	"context"
	"testing"

	"toolgym/policy"
	"toolgym/policy/trained"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// TestLayouts counts on how many layouts of level 1 the policy fails: of the first
// that were held out of its training, and of the first there are. Without training
// on layouts it would fail on all: one plan, whatever it is, fits about none.
func TestLayouts(t *testing.T) {
	const tasks, least = 1000, 980
	spec := gridworld.Spec()
	_, config, err := trained.Load(spec.Name, "1")
	if err != nil {
		t.Fatal(err)
	}
	if config.HoldOut != 0.1 {
		t.Fatalf("%v of the layouts were left out of training", config.HoldOut)
	}
	agent, err := trained.Agent(spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, seeds := range map[string][]uint64{
		"never seen": seedsOf(t, spec, config.HeldOut, tasks),
		"all":        seedsOf(t, spec, func(policy.Prompt) bool { return true }, tasks),
	} {
		t.Run(name, func(t *testing.T) {
			var failed []uint64
			steps, shortest, env := 0, 0, spec.New()
			for _, seed := range seeds {
				trajectory := play(t.Context(), t, env, seed, agent)
				if !trajectory.Success {
					failed = append(failed, seed)
					continue
				}
				steps += len(trajectory.Steps)
				shortest += trajectory.Task.Optimal
			}
			solved := tasks - len(failed)
			if solved < least {
				t.Errorf("%d of %d solved, at least %d are to be", solved, tasks, least)
			}
			t.Logf("%d of %d layouts solved, among the seeds to %d, and not those of %d; %.2f calls each, the shortest have %.2f",
				solved, tasks, seeds[tasks-1], failed, float64(steps)/float64(solved), float64(shortest)/float64(solved))
		})
	}
}

// seedsOf are the first n seeds of level 1 whose layouts are wanted.
func seedsOf(t *testing.T, spec tools.Spec, want func(policy.Prompt) bool, n int) (seeds []uint64) {
	t.Helper()
	env := spec.Enumerate()
	for seed := uint64(0); len(seeds) < n; seed++ {
		var prompt policy.Prompt
		if err := env.Start(tools.Sound, "1", seed); err != nil {
			t.Fatal(err)
		}
		if err := prompt.Read(env, "1"); err != nil {
			t.Fatal(err)
		}
		if want(prompt) {
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

func play(ctx context.Context, t *testing.T, env tools.Env, seed uint64, agent tools.Agent) tools.Trajectory {
	t.Helper()
	task, err := gridworld.Spec().Task(tools.Sound, "1", seed)
	if err != nil {
		t.Fatal(err)
	}
	trajectory, err := tools.Rollout(ctx, env, task, agent)
	if err != nil {
		t.Fatal(err)
	}
	return trajectory
}
