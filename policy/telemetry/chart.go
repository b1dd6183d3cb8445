package telemetry

import (
	"strings"

	"github.com/guptarohit/asciigraph"
)

// Chart draws the success of each stage by update in plain text, for a
// terminal: a small chart for each stage, without colours.
func Chart(records []Record) string {
	const chartWidth, chartHeight = 60, 4
	var charts []string
	for _, s := range successes(records) {
		if len(s.points) == 0 {
			continue
		}
		values := make([]float64, len(s.points))
		for i, p := range s.points {
			values[i] = p.Y
		}
		first, last := s.points[0].X, s.points[len(s.points)-1].X
		charts = append(charts, asciigraph.Plot(values, asciigraph.Height(chartHeight), asciigraph.Width(chartWidth),
			asciigraph.LowerBound(0), asciigraph.UpperBound(1), asciigraph.Precision(2),
			asciigraph.XAxisRange(first, last), asciigraph.XAxisTickCount(3),
			asciigraph.Caption(s.name+": success of sampled plans, by update")))
	}
	return strings.Join(charts, "\n\n")
}
