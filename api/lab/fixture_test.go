package lab

import (
	"context"
	"testing"
	"time"

	"toolgym/grpo"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

// newLab makes a lab of the usual environments, without a server around it.
func newLab(t *testing.T) *Lab {
	t.Helper()
	specs := tools.Specs{arithmetic.Spec(), gridworld.Spec(), research.Spec()}
	scorer, err := grpo.NewScorer(specs, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(Config{Specs: specs, Scorer: scorer, Rubric: grpo.DefaultRubric(), CallTimeout: time.Minute, Now: time.Now,
		Owner: func(context.Context) string { return "" }, Owns: func(context.Context, string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// staged plays what a query says.
func staged(t *testing.T, l *Lab, pairs ...string) shown {
	t.Helper()
	values := map[string][]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[pairs[i]] = []string{pairs[i+1]}
	}
	set, note, err := l.settings(values)
	if err != nil {
		t.Fatal(err)
	}
	v, err := l.stage(t.Context(), set, note)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
