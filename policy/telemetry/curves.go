package telemetry

import (
	"bytes"
	"strings"

	"github.com/guptarohit/asciigraph"

	"toolgym/internal/chart"
)

// A panel is a chart of one metric.
type panel struct {
	title, unit string
	from, to    float64 // of the y axis; equal for automatic limits
	of          func(Record) *float64
}

func panels() []panel {
	return []panel{
		{"Mean reward", "reward per plan", 0, 0, func(r Record) *float64 { return &r.Reward }},
		{"KL divergence from the initial policy", "nats per token", 0, 0, func(r Record) *float64 { return r.KL }},
		{"Tool-token mass", "probability", 0, 1, func(r Record) *float64 { return &r.ToolMass }},
		{"Entropy", "nats per token", 0, 0, func(r Record) *float64 { return &r.Entropy }},
		{"Gradient norm, before clipping", "L2 norm", 0, 0, func(r Record) *float64 { return &r.GradNorm }},
	}
}

// Curves draws the learning curves of a run as png or svg: reward, success per
// stage, the divergence from the initial policy, the probability of tool tokens, the
// entropy, and the norm of the gradient. Many updates are drawn as means over
// neighbors. A metric that was not measured has an empty chart that says so. Another
// format is a [*tools.Error].
func Curves(records []Record, format string) ([]byte, error) {
	last := 0
	if len(records) > 0 {
		last = records[len(records)-1].Update
	}
	updates := chart.Axis{Label: "update", From: 1, To: float64(last)}
	var charts []chart.Chart
	for i, m := range panels() {
		line := pick("", records, m.of)
		c := chart.Chart{Title: m.title, X: updates, Y: chart.Axis{Label: m.unit, From: m.from, To: m.to}, Lines: []chart.Line{line}}
		if len(line.X) == 0 {
			c.Title += ": not measured"
		}
		charts = append(charts, c)
		if i == 0 {
			charts = append(charts, chart.Chart{Title: "Success of sampled plans", X: updates, Y: chart.Axis{Label: "fraction of plans", From: 0, To: 1}, Lines: successes(records), Key: true})
		}
	}
	var out bytes.Buffer
	if err := chart.Write(&out, format, charts); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// maxPoints is the maximum number of points of a curve.
const maxPoints = 300

// pick collects a metric of all records that have it, as means over neighbors. The
// x value of a point is the last of its updates.
func pick(name string, records []Record, metric func(Record) *float64) chart.Line {
	line := chart.Line{Name: name}
	span := (len(records) + maxPoints - 1) / maxPoints
	for i := 0; i < len(records); i += span {
		sum, n := 0.0, 0
		part := records[i:min(i+span, len(records))]
		for _, r := range part {
			if value := metric(r); value != nil {
				sum += *value
				n++
			}
		}
		if n > 0 {
			line.X = append(line.X, float64(part[len(part)-1].Update))
			line.Y = append(line.Y, sum/float64(n))
		}
	}
	return line
}

// successes returns the success curves of all stages.
func successes(records []Record) []chart.Line {
	var all []chart.Line
	if len(records) == 0 {
		return nil
	}
	for i, stage := range records[0].Stages {
		line := pick("stage "+stage, records, func(r Record) *float64 { return r.SuccessOf(stage) })
		line.Look = i
		all = append(all, line)
	}
	return all
}

// Chart draws the success of each stage by update as text for a terminal: a small
// chart per stage, without colors.
func Chart(records []Record) string {
	const chartWidth, chartHeight = 60, 4
	var charts []string
	for _, s := range successes(records) {
		if len(s.Y) == 0 {
			continue
		}
		first, last := s.X[0], s.X[len(s.X)-1]
		charts = append(charts, asciigraph.Plot(s.Y, asciigraph.Height(chartHeight), asciigraph.Width(chartWidth),
			asciigraph.LowerBound(0), asciigraph.UpperBound(1), asciigraph.Precision(2),
			asciigraph.XAxisRange(first, last), asciigraph.XAxisTickCount(3),
			asciigraph.Caption(s.Name+": success of sampled plans, by update")))
	}
	return strings.Join(charts, "\n\n")
}
