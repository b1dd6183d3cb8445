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
