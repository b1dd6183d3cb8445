package skill_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/baseline"
	"toolgym/tools/gridworld"
)

// TestPreconditionsAreSufficient extracts skills from blind walks and calls them
// at random on other layouts: whatever applies does what it says, unless the
// episode ends before.
func TestPreconditionsAreSufficient(t *testing.T) {
	for _, level := range []string{"1", "2"} {
		t.Run("level "+level, func(t *testing.T) {
			library := skill.NewLibrary(tools.Sound)
			for seed := range uint64(40) {
				for _, s := range extract(t, play(t, gridworld.Spec(), level, seed, baseline.Random(rand.NewPCG(seed, 1)))) {
					add(t, library, s)
				}
			}
			spec := skill.Offer(gridworld.Spec(), library)
			performed, refused := 0, 0
			for seed := range uint64(60) {
				trajectory := play(t, spec, level, 1000+seed, baseline.Random(rand.NewPCG(seed, 2)))
				for _, step := range trajectory.Steps {
					content := string(step.Result.Content)
					switch {
					case !strings.HasPrefix(step.Call.Name, skill.Prefix):
					case strings.Contains(content, "stopped after"):
						t.Errorf("%s: %s", trajectory.Task.ID, content)
					case step.Result.IsError:
						refused++
					default:
						performed++
					}
				}
			}
			if performed < 100 || refused < 100 {
				t.Errorf("%d performed, %d refused: too few to tell", performed, refused)
			}
		})
	}
}
