package telemetry

import (
	"bytes"

	"toolgym/internal/chart"
)

// A measure is a figure of the records that has a panel.
type measure struct {
	title, unit string
	from, to    float64 // of the axis; the same where it fits itself
	of          func(Record) *float64
}

func measures() []measure {
	return []measure{
		{"Mean reward", "reward per plan", 0, 0, func(r Record) *float64 { return &r.Reward }},
		{"KL divergence from the frozen start", "nats per token", 0, 0, func(r Record) *float64 { return r.KL }},
		{"Tool-token mass", "probability", 0, 1, func(r Record) *float64 { return &r.ToolMass }},
		{"Entropy", "nats per token", 0, 0, func(r Record) *float64 { return &r.Entropy }},
		{"Gradient norm, before clipping", "L2 norm", 0, 0, func(r Record) *float64 { return &r.GradNorm }},
	}
}

// Curves draws the learning curves of a run as png or svg: reward and success
// for each stage, the divergence from the frozen start and the tools'
// probability, the entropy, and the norm of the gradient. Curves are means over
// neighbouring updates where there are many; what was not measured has an empty
// panel that says so. Another format is an [*tools.Error].
func Curves(records []Record, format string) ([]byte, error) {
	last := 0
	if len(records) > 0 {
		last = records[len(records)-1].Update
	}
	updates := chart.Axis{Label: "update", From: 1, To: float64(last)}
	var charts []chart.Chart
	for i, m := range measures() {
		line := pick("", records, m.of)
		c := chart.Chart{Title: m.title, X: updates, Y: chart.Axis{Label: m.unit, From: m.from, To: m.to}, Lines: []chart.Line{line}}
		if len(line.X) == 0 {
			c.Title += ": not measured"
		}
		charts = append(charts, c)
		if i == 0 {
			charts = append(charts, chart.Chart{Title: "Success of sampled plans", X: updates, Y: chart.Axis{Label: "share of the plans", From: 0, To: 1}, Lines: successes(records), Key: true})
		}
	}
	var out bytes.Buffer
	if err := chart.Write(&out, format, charts); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
