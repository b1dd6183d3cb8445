package skill_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/testkit"
	"toolgym/policy/skill"
	"toolgym/tools"
)

var update = flag.Bool("update", false, "write what was learnt into the golden files")

// TestDocumentedRun pins the published run: 15 episodes of 12.3 in 10 steps, and
// one skill. Nothing improves, since the exploration is optimal already.
func TestDocumentedRun(t *testing.T) {
	var lines bytes.Buffer
	all := []skill.Episode{}
	library, err := skill.Course{Rules: tools.Documented}.Run(t.Context(), func(e skill.Episode) error {
		all = append(all, e)
		if e.Run == 0 && e.Agent == skill.WithSkills {
			return json.NewEncoder(&lines).Encode(e)
		}
		return nil
	})
	must(t, err)
	for _, e := range all {
		if e.Reward < 12.3-1e-9 || e.Reward > 12.3+1e-9 || e.Steps != 10 || !e.Success {
			t.Errorf("%+v", e)
		}
	}
	text, err := library.Encode()
	must(t, err)
	testkit.Golden(t, "testdata/documented.jsonl", lines.String(), *update)
	testkit.Golden(t, "testdata/documented.json", string(text), *update)
	if got := names(library.Skills()); !cmp.Equal(got, []string{"open_door_sequence"}) {
		t.Errorf("skills %v", got)
	}
	want := skill.Summary{MedianDecisions: 6, MedianSteps: 10, BaselineMedianSteps: 10, OptimumRatio: 1}
	if diff := cmp.Diff(want, skill.Summarise(all)); diff != "" {
		t.Error(diff)
	}
	// 14 executions and 15 extractions in 14 uses: the published rate exceeds 1.
	if got := library.Stats(); got.Uses != 14 || got.MeanSuccessRate != 29.0/14 {
		t.Errorf("%+v", got)
	}
}
