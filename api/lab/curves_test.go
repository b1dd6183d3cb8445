package lab

import (
	"math"
	"strings"
	"testing"

	"toolgym/internal/chart"
	"toolgym/policy"
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
	"toolgym/tools/arithmetic"
)

func TestThinningKeepsTheEnds(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 199, 200, 201, 399, 400, 20_000, 1_000_000} {
		spans, next := thin(n, widthOf(n)), 0
		for _, s := range spans {
			if s.from != next || s.to <= s.from {
				t.Fatalf("%d updates: %v after %d", n, s, next)
			}
			next = s.to
		}
		if next != n || len(spans) > mostPoints || n <= mostPoints && len(spans) != n {
			t.Errorf("%d updates: %d spans up to %d", n, len(spans), next)
		}
		if n > 1 && (spans[0] != span{0, 1} || spans[len(spans)-1] != span{n - 1, n}) {
			t.Errorf("%d updates: the ends are %v and %v", n, spans[0], spans[len(spans)-1])
		}
	}
}

// run has made n updates, each of which was rewarded by its number.
func run(id string, n, budget int) laidRun {
	r := laidRun{shown: true}
	r.ID, r.Updates, r.Config = id, n, train.Config{Updates: budget, Levels: []string{"0"}}
	for i := range n {
		r.records = append(r.records, telemetry.Record{Metrics: policy.Metrics{Update: i + 1, Reward: float64(i + 1)}, Stages: []string{"0"}, Success: []*float64{nil}})
	}
	return r
}

func TestCurves(t *testing.T) {
	s := selection{ids: []string{"BBBBB", "AAAAA"}, bound: 0.12, runs: []laidRun{run("BBBBB", 1000, 2000), run("AAAAA", 3, 2000)}}
	s.dress()
	runs, charts, err := s.draw()
	if err != nil || len(runs) != 2 || runs[0].Name != "AAAA" || len(charts) != 4 {
		t.Fatalf("%v %v %v", runs, charts, err)
	}
	reward, divergence, success := charts[0], charts[1], charts[3]
	if reward.First != 1 || reward.Last != 1000 || strings.Join(reward.Texts[0], " ") != "1.000 2.000 3.000" {
		t.Errorf("%+v", reward)
	}
	long := reward.Texts[1]
	if len(long) > mostPoints || long[0] != "1.000" || long[len(long)-1] != "1000.000" || runs[1].From[1] != 2 || runs[1].To[1] != 7 || long[1] != "4.500" {
		t.Errorf("of a long run: %v", long)
	}
	if divergence.Latest(0) != "–" || success.Texts[0][1] != "" || !strings.Contains(string(divergence.SVG), "bound: 0.12") {
		t.Errorf("what was not measured: %v, %v", divergence.Latest(0), success.Texts[0])
	}
	if !math.IsNaN(mean(nil, nil)) {
		t.Error("the mean of nothing is a number")
	}
}

// TestLooksStay: a line keeps its colour while others are shown or not, and no
// two have the same.
func TestLooksStay(t *testing.T) {
	s := selection{}
	for i := range 9 {
		s.runs = append(s.runs, run(string(rune('J'-i)), 1, 1))
	}
	s.ids = []string{"C", "B"}
	s.dress()
	if got := s.laid(); len(got) != 2 || got[0].look != 0 || got[1].look != 1 {
		t.Errorf("%+v", got)
	}
	s.ids = []string{"C", "I", "H"} // I and C are six apart
	s.dress()
	seen := map[int]bool{}
	for _, r := range s.laid() {
		seen[r.look] = true
	}
	if len(seen) != 3 {
		t.Errorf("looks %v", seen)
	}
}

// TestThemeKnowsAllColours: a colour that the style sheet does not replace would
// be that of the light theme for ever.
func TestThemeKnowsAllColours(t *testing.T) {
	sheet, err := staticFiles.ReadFile("static/chart.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := chart.Ink()
	for _, look := range chart.Looks() {
		colours = append(colours, look.Stroke)
	}
	for _, colour := range colours {
		if !strings.Contains(string(sheet), `="`+colour+`"]`) {
			t.Errorf("the style sheet does not know %s", colour)
		}
	}
}

// TestFigures are those of the last update, or dashes.
func TestFigures(t *testing.T) {
	var s selection
	for _, f := range s.figures() {
		if f.Value != "–" || f.Badge != "" {
			t.Errorf("without a run, %s is %s %s", f.Name, f.Value, f.Badge)
		}
	}
	one := run("AAAAA", 3, 10)
	one.Config.Algorithm, one.Config.Network = train.GRPO, policy.Default(policy.UpdateGRPO, policy.PoolOwn, arithmetic.NewEnumerator().Vocabulary())
	low, high, within, over := 0.125, 0.25, 0.12, 0.121
	last := one.last()
	last.KL, last.ClipLow, last.ClipHigh, last.PolicyLoss, last.UpdatesPerSecond = &within, &low, &high, -0.5, 12.34
	s = selection{ids: []string{"AAAAA"}, bound: 0.12, runs: []laidRun{one}}
	got := map[string]figure{}
	for _, f := range s.figures() {
		got[f.Key] = f
	}
	for key, want := range map[string]string{
		"reward": "3.000 first update 1.000 ", "kl": "0.120 bound 0.12 nats within bound", "call_prob": "0.000 under the start – ",
		"policy_loss": "−0.500 37.5 % clipped at 1 ± 0.2 ", "speed": "12.3 updates a second ", "grad_norm": "0.000 clipped to 1 ",
	} {
		if f := got[key]; f.Value+" "+f.Note+" "+f.Badge != want {
			t.Errorf("%s: %s %s %s, want %s", key, f.Value, f.Note, f.Badge, want)
		}
	}
	last.KL = &over
	if f := s.figures()[1]; f.Badge != "over bound" || f.Tone != "bad" {
		t.Errorf("over the bound: %+v", f)
	}
}
