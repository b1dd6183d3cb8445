package skill_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy/skill"
	"toolgym/tools"
)

// learn runs a course and returns its episodes.
func learn(t *testing.T, c skill.Course) ([]skill.Episode, *skill.Library) {
	t.Helper()
	var all []skill.Episode
	library, err := c.Run(t.Context(), func(e skill.Episode) error {
		all = append(all, e)
		return nil
	})
	must(t, err)
	if len(all) != c.Total() {
		t.Errorf("%d episodes, %d announced", len(all), c.Total())
	}
	return all, library
}

// TestLearning is what procedural memory is for, on five seeds: after learning,
// at most half of the decisions of the same explorer without skills, and
// hardly more steps than are needed.
func TestLearning(t *testing.T) {
	tests := []struct {
		name   string
		course skill.Course
		ratio  float64
	}{
		{"level 0", skill.Course{Level: "0"}, 1.2},
		{"level 1", skill.Course{Level: "1"}, 1.2},
		{"level 1, random", skill.Course{Level: "1", Explorer: skill.ExploreRandom}, 1.2},
		{"level 2", skill.Course{Level: "2"}, 1.5},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			episodes, library := learn(t, test.course)
			got := skill.Summarise(episodes)
			if got.MedianDecisions > got.BaselineMedianSteps/2 || got.OptimumRatio > test.ratio || got.MedianSteps >= got.BaselineMedianSteps {
				t.Errorf("%+v", got)
			}
			if stats := library.Stats(); stats.Skills < 20 || stats.Uses == 0 {
				t.Errorf("%+v", stats)
			}
		})
	}
}

func TestCourseIsRepeatable(t *testing.T) {
	course := skill.Course{Level: "1", Episodes: 5, Evaluation: 2, Seed: 9}
	first, library := learn(t, course)
	again, other := learn(t, course)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(library.Skills(), other.Skills()); diff != "" {
		t.Error(diff)
	}
}

// TestCourseGoesOn: who begins with a library that was learnt before is good
// from the first episode on, and does not change it.
func TestCourseGoesOn(t *testing.T) {
	_, library := learn(t, skill.Course{Level: "1"})
	before := library.Skills()
	episodes, _ := learn(t, skill.Course{Level: "2", Episodes: 1, Evaluation: 5, Library: library})
	if got := skill.Summarise(episodes); got.OptimumRatio > 1.5 {
		t.Errorf("learnt at level 1, played at level 2: %+v", got)
	}
	if diff := cmp.Diff(before, library.Skills()); diff != "" {
		t.Error(diff)
	}
}

func TestCourseStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	library, err := skill.Course{Level: "1"}.Run(ctx, func(e skill.Episode) error {
		if e.Number == 20 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || library.Len() == 0 {
		t.Errorf("%v, %d skills", err, library.Len())
	}
}

func TestCourseRefuses(t *testing.T) {
	tests := []struct {
		name   string
		course skill.Course
		code   string
	}{
		{"a level that does not exist", skill.Course{Level: "9"}, tools.Invalid},
		{"rules that do not exist", skill.Course{Rules: "new"}, tools.Invalid},
		{"a level without documented rules", skill.Course{Rules: tools.Documented, Level: "2"}, tools.Invalid},
		{"fewer than no episodes", skill.Course{Episodes: -1}, tools.Invalid},
		{"an explorer that does not exist", skill.Course{Explorer: "wise"}, tools.Invalid},
		{"a library of other rules", skill.Course{Library: skill.NewLibrary(tools.Documented)}, tools.Conflict},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.course.Run(t.Context(), func(skill.Episode) error { return nil })
			wantCode(t, err, test.code)
		})
	}
}
