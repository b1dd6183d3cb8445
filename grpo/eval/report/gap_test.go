package report_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"toolgym/grpo"
	"toolgym/grpo/eval/report"
)

// A figure that JSON has no number for is null in its field only, and the
// report says why.
func TestAReportWithAnInfiniteMean(t *testing.T) {
	records := played("chat", "0", "PP", "PF")
	for i := range records {
		huge := math.MaxFloat64
		records[i].Reward = &huge
	}
	r, err := report.New(plan(records, 2, "chat"), records, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []report.Format{report.Text, report.Markdown, report.HTML, report.CSV, report.JUnit} {
		render(t, r, format)
	}
	var back struct {
		Run         json.RawMessage `json:"run"`
		Summary     *struct{}       `json:"summary"`
		NotComputed []report.Gap    `json:"not_computed"`
	}
	if err := json.Unmarshal([]byte(render(t, r, report.JSON)), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Run) < 10 || back.Summary != nil || len(back.NotComputed) == 0 || back.NotComputed[0].Part != "summary" || !strings.Contains(back.NotComputed[0].Reason, "+Inf") {
		t.Errorf("got %+v", back)
	}
}

// A panic while the baselines are summarized affects no other part, and every
// format says why they are missing.
func TestAPartThatPanics(t *testing.T) {
	records := played("chat", "0", "PP", "PF")
	run := plan(records, 2, "chat")
	agents := []report.Agent{{Name: "broken", Trials: trialsOf("broken", records)}}
	r, err := report.New(run, records, agents, &exhausted{left: 4})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.NotComputed) != 1 || r.NotComputed[0].Part != "baselines" || r.NotComputed[0].Reason != "internal error" || !strings.Contains(r.NotComputed[0].Err.Error(), "no more draws") {
		t.Fatalf("not computed: %+v", r.NotComputed)
	}
	for _, format := range []report.Format{report.Text, report.Markdown, report.HTML, report.JSON, report.CSV, report.JUnit} {
		if text := render(t, r, format); !strings.Contains(text, "internal error") || strings.Contains(text, "no more draws") {
			t.Errorf("%s does not say why there are no baselines:\n%s", format, text)
		}
	}
	if r.Summary.Passed != 3 || r.Failures[0].Trials != 1 {
		t.Errorf("the rest of the report is %+v", r.Summary)
	}
}

// exhausted is a source that panics after a number of draws: the summaries of
// the run and of its level take two each.
type exhausted struct{ left int }

func (e *exhausted) Uint64() uint64 {
	if e.left--; e.left < 0 {
		panic("no more draws")
	}
	return uint64(e.left) * 0x9e3779b97f4a7c15
}

// A section that cannot be made says so in its place.
func TestASectionThatPanics(t *testing.T) {
	records := played("chat", "0", "PP")
	r, err := report.New(plan(records, 2, "chat"), records, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	r.Summary.PassAt, r.Summary.PassAll = []float64{1, 1}, []float64{1} // pass^2 is missing
	r.Summary.Criteria = map[string]float64{grpo.CriterionFormat: math.NaN()}
	for _, format := range []report.Format{report.Text, report.Markdown, report.HTML} {
		text := render(t, r, format)
		if !strings.Contains(text, "This section could not be computed: internal error") || !strings.Contains(text, "sha256:aa") {
			t.Errorf("%s: %s", format, text)
		}
	}
}
