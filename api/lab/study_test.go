package lab

import (
	"math"
	"slices"
	"strings"
	"testing"

	"toolgym/grpo"
	"toolgym/grpo/objective"
)

// near compares figures that went through float32.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-5*(1+math.Abs(a)) }

// TestStudyAgreesWithTheObjective works the numbers of the page out by hand.
func TestStudyAgreesWithTheObjective(t *testing.T) {
	v := staged(t, newLab(t), "level", "1", "group", "12", "epsilon", "0.3", "beta", "0.1")
	s := v.Study
	if s.Why != "" || s.Score == nil || s.Loss == nil || s.Divergence == nil || s.Clipped == nil || s.Call == nil || s.CallBefore == nil {
		t.Fatalf("not all is known: %+v", s)
	}
	tokens, clipped, sum := 0, 0, 0.0
	for _, m := range s.Members {
		if m.Advantage != 0 && near(m.Ratios[0], 1) {
			t.Errorf("the ratio of a trained policy to an untrained one is %v", m.Ratios[0])
		}
		clipped += m.Clipped
		for _, ratio := range m.Ratios {
			tokens++
			sum -= min(ratio*m.Advantage, min(max(ratio, 0.7), 1.3)*m.Advantage)
		}
	}
	if want := float64(clipped) / float64(tokens); !near(*s.Clipped, want) {
		t.Errorf("clipped %v, by hand %v", *s.Clipped, want)
	}
	if want := sum / float64(tokens); !near(*s.Loss, want) {
		t.Errorf("loss %v, by hand %v", *s.Loss, want)
	}
	if *s.Penalty != 0.1**s.Divergence {
		t.Errorf("β·KL is %v, KL %v", *s.Penalty, *s.Divergence)
	}
	if !v.OverKL || *s.Call < 0.9 || *s.CallBefore > 0.5 {
		t.Errorf("trained and untrained: over the bound %v, calls %v and %v", v.OverKL, *s.Call, *s.CallBefore)
	}
}

// TestStudyOfOneAndTheSamePolicy: what has not moved has no divergence, and
// ratios of 1.
func TestStudyOfOneAndTheSamePolicy(t *testing.T) {
	v := staged(t, newLab(t), "before", "trained", "after", "trained", "level", "2", "group", "16")
	s := v.Study
	if *s.Divergence != 0 || *s.Clipped != 0 || *s.Call != *s.CallBefore || v.OverKL {
		t.Errorf("divergence %v, clipped %v, calls %v and %v", *s.Divergence, *s.Clipped, *s.Call, *s.CallBefore)
	}
	for _, m := range s.Members {
		for _, ratio := range m.Ratios {
			if ratio != 1 {
				t.Fatalf("a ratio is %v", ratio)
			}
		}
	}
}

func TestStudySaysWhatIsNotKnown(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct{ before, after, env, want string }{
		"a baseline samples":       {"random", "trained", "arithmetic", "Random calls tells no log-probabilities"},
		"a baseline learns":        {"base", "oracle", "arithmetic", "Oracle gives the group's tokens no probabilities"},
		"nobody knows the grounds": {"base", "trained", "research", "Random calls tells no log-probabilities"},
	} {
		t.Run(name, func(t *testing.T) {
			v := staged(t, l, "env", c.env, "before", c.before, "after", c.after)
			if s := v.Study; !strings.Contains(s.Why, c.want) || s.Loss != nil || s.Divergence != nil || s.Clipped != nil || s.Advantage == nil {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestRewardsAreTheScorers holds the columns to what grpo pays.
func TestRewardsAreTheScorers(t *testing.T) {
	l := newLab(t)
	for name, pairs := range map[string][]string{
		"published": nil, "other weights": {"format", "0.25", "schema", "-1", "completion", "4.5", "length", "-0.4"},
	} {
		t.Run(name, func(t *testing.T) {
			v := staged(t, l, pairs...)
			spec, task, err := l.config.Specs.Task("arithmetic/0/17")
			if err != nil {
				t.Fatal(err)
			}
			net, _, err := l.trained(spec, task.Level)
			if err != nil {
				t.Fatal(err)
			}
			takes, err := scene{spec, task}.plans(t.Context(), net, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			rubric := v.Rubric(grpo.DefaultRubric())
			takes[0].completion.Played = nil // so that the calls are made again
			got, err := l.config.Scorer.Score(t.Context(), grpo.Request{Rubric: &rubric, Groups: []grpo.Group{{ID: "x", TaskID: task.ID, Completions: []grpo.Completion{takes[0].completion}}}})
			if err != nil {
				t.Fatal(err)
			}
			if want := trimmed(*got.Groups[0].Completions[0].Reward, false); v.Columns[1].Reward != want {
				t.Errorf("the page says %s, grpo %s", v.Columns[1].Reward, want)
			}
		})
	}
}

func TestPartsAreWrittenAsPublished(t *testing.T) {
	published := []grpo.CriterionScore{
		{Name: grpo.CriterionFormat, Value: 1, Weight: 1}, {Name: grpo.CriterionSchema, Value: 1, Weight: 1.5},
		{Name: grpo.CriterionCompletion, Value: 1, Weight: 3}, {Name: grpo.CriterionLength, Value: 3, Weight: -0.05}, {Name: grpo.CriterionRepetition, Value: 1}}
	if got := sharesOf(grpo.Score{Criteria: grpo.CriteriaOf(published...)}); got != "F:+1.0 | S:+1.5 | C:+3.0 | L:−0.15" {
		t.Error(got)
	}
	own := slices.Concat(published[:3], []grpo.CriterionScore{{Name: grpo.CriterionLength, Error: "nobody counted"}, {Name: "bonus", Weight: 1, Value: 0.5}})
	if got := sharesOf(grpo.Score{Criteria: grpo.CriteriaOf(own...)}); got != "F:+1.0 | S:+1.5 | C:+3.0 | L:? | bonus:+0.5" {
		t.Error(got)
	}
	for v, want := range map[float64]string{5.35: "5.35", -0.0001: "0.0", 1.125: "1.125", -2: "−2.0", 0: "0.0"} {
		if got := trimmed(v, false); got != want {
			t.Errorf("%v is written %s", v, got)
		}
	}
}

func TestPublishedNumbers(t *testing.T) {
	l := newLab(t)
	l.config.Rubric.Criteria = map[string]grpo.Criterion{grpo.CriterionFormat: {Weight: 9}}
	set, _, err := l.settings(map[string][]string{"env": {"gridworld"}, "level": {"2"}, "seed": {"5"}, "beta": {"0.9"}, "group": {"4"}})
	if err != nil {
		t.Fatal(err)
	}
	loss := objective.Default()
	want := Settings{Env: "gridworld", Level: "2", Seed: 5, Before: "base", After: "trained", Group: 4,
		Format: 1, Schema: 1.5, Done: 3, Length: -0.05, Beta: loss.Beta, Clip: loss.Epsilon, Bound: 0.12}
	if got := set.published(); got != want {
		t.Errorf("got %+v", got)
	}
}
