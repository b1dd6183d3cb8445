package lab

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"toolgym/internal/chart"
	"toolgym/policy/telemetry"
)

// mostPoints is how many points a line has at most. Of longer runs the first
// and the last update are drawn as they are, and those in between as means over
// as many neighbours as it takes.
const mostPoints = 200

// A measure is a number of the telemetry that has a chart.
type measure struct {
	Key, Title, Help string
	axis             chart.Axis
	of               func(telemetry.Record) *float64
}

// measures are those of all runs, and the success of each of the stages.
func measures(stages []string) []measure {
	share := chart.Axis{From: 0, To: 1}
	list := []measure{
		{"reward", "Mean reward", "of the plans that were sampled", chart.Axis{}, func(r telemetry.Record) *float64 { return &r.Reward }},
		{"kl", "KL divergence", "from the frozen start, in nats; dashed: the bound", chart.Axis{}, func(r telemetry.Record) *float64 { return r.KL }},
		{"tool_mass", "Tool-token mass", "probability that is on the tools", share, func(r telemetry.Record) *float64 { return &r.ToolMass }},
	}
	for _, stage := range stages {
		list = append(list, measure{"success/" + stage, "Success, stage " + stage, "share of the plans that solve their task", share,
			func(r telemetry.Record) *float64 { return r.SuccessOf(stage) }})
	}
	return list
}

// stagesOf lists the stages of runs, each once, in their order.
func stagesOf(runs []laidRun) (stages []string) {
	for _, run := range runs {
		for _, stage := range run.Config.Levels {
			if !slices.Contains(stages, stage) {
				stages = append(stages, stage)
			}
		}
	}
	slices.Sort(stages)
	return stages
}

// A span is neighbouring updates that one point stands for.
type span struct{ from, to int } // indexes of records, to excluded

// thin divides n updates so that at most about mostPoints spans are left. The
// first and the last are alone, wherever there are two.
func thin(n, width int) (spans []span) {
	if n == 0 {
		return nil
	}
	spans = []span{{0, 1}}
	for i := 1; i < n-1; i += width {
		spans = append(spans, span{i, min(i+width, n-1)})
	}
	if n > 1 {
		spans = append(spans, span{n - 1, n})
	}
	return spans
}

// widthOf is how many updates a point of the longest run stands for.
func widthOf(longest int) int { return max(1, (longest-2+mostPoints-3)/(mostPoints-2)) }

// mean is a measure's mean over the updates that have it; NaN without any.
func mean(records []telemetry.Record, of func(telemetry.Record) *float64) float64 {
	sum, n := 0.0, 0
	for _, r := range records {
		if v := of(r); v != nil {
			sum += *v
			n++
		}
	}
	return sum / float64(n)
}

// A spanned is the updates that the points of a run stand for: its script looks
// up what it shows under a pointer.
type spanned struct {
	Run   string `json:"run"`
	Name  string `json:"name"`
	From  []int  `json:"from"`
	To    []int  `json:"to"`
	Look  chart.Look
	spans []span
}

// A curves is one chart: the drawing, and the values of its points in words.
type curves struct {
	Key   string        `json:"key"`
	Title string        `json:"-"`
	Help  string        `json:"-"`
	SVG   template.HTML `json:"svg"`
	// The data lie between Left and Right, shares of the width, which are the
	// updates First and Last.
	Left  float64    `json:"left"`
	Right float64    `json:"right"`
	First float64    `json:"first"`
	Last  float64    `json:"last"`
	Texts [][]string `json:"texts"` // by run and point; empty where nothing was measured
}

// latest is the last value of a run in words.
func (c curves) Latest(run int) string {
	for _, text := range slices.Backward(c.Texts[run]) {
		if text != "" {
			return text
		}
	}
	return "–"
}

// spread divides the updates of runs for drawing.
func spread(runs []laidRun) (list []spanned) {
	longest := 0
	for _, run := range runs {
		longest = max(longest, run.Updates)
	}
	for _, run := range runs {
		s := spanned{Run: run.ID, Name: run.Short(), Look: run.Look(), From: []int{}, To: []int{}, spans: thin(len(run.records), widthOf(longest))}
		for _, part := range s.spans {
			s.From = append(s.From, run.records[part.from].Update)
			s.To = append(s.To, run.records[part.to-1].Update)
		}
		list = append(list, s)
	}
	return list
}

// chartOf lays a measure of all runs over one another.
func (m measure) chartOf(runs []laidRun, spread []spanned, bound float64) (chart.Chart, [][]string) {
	c := chart.Chart{Title: m.Title, X: extent(runs), Y: m.axis}
	if m.Key == "kl" {
		c.Mark = &chart.Mark{Name: "bound", At: bound}
	}
	texts := make([][]string, len(runs))
	for i, run := range runs {
		line := chart.Line{Name: run.Short(), Look: run.look}
		texts[i] = []string{}
		for j, part := range spread[i].spans {
			v := mean(run.records[part.from:part.to], m.of)
			line.X = append(line.X, float64(spread[i].From[j]+spread[i].To[j])/2)
			line.Y = append(line.Y, v)
			texts[i] = append(texts[i], written(v))
		}
		c.Lines = append(c.Lines, line)
	}
	return c, texts
}

// extent is the axis of updates: it ends at a round number, and not beyond the
// budget.
func extent(runs []laidRun) chart.Axis {
	made, budget := 2, 2
	for _, run := range runs {
		made, budget = max(made, run.Updates), max(budget, run.Config.Updates)
	}
	return chart.Axis{Label: "update", From: 1, To: float64(max(made, min(chart.Round(made), budget)))}
}

// written is a number as the page has it; nothing for one that is none.
func written(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strings.Replace(fmt.Sprintf("%.3f", v), "-", "−", 1)
}

// draw draws all charts of a selection.
func (s *selection) draw() ([]spanned, []curves, error) {
	runs := s.laid()
	spread := spread(runs)
	var list []curves
	for _, m := range measures(stagesOf(runs)) {
		c, texts := m.chartOf(runs, spread, s.bound)
		drawing, err := c.Draw()
		if err != nil {
			return nil, nil, fmt.Errorf("drawing %s: %w", m.Title, err)
		}
		list = append(list, curves{Key: m.Key, Title: m.Title, Help: m.Help, SVG: template.HTML(drawing.SVG), // its texts are escaped by package chart
			Left: drawing.Left, Right: drawing.Right, First: c.X.From, Last: c.X.To, Texts: texts})
	}
	return spread, list, nil
}
