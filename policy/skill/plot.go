package skill

import (
	"bytes"
	"fmt"
	"slices"

	"toolgym/internal/chart"
)

// Draw draws the record of an experiment as "png" or "svg": the published four
// panels of its first run (rewards, steps, skills, cumulative uses of skills),
// and below them the steps of all runs with and without skills, median and
// quartiles. Without episodes the panels are empty.
func Draw(episodes []Episode, format string) ([]byte, error) {
	var out bytes.Buffer
	if err := chart.Write(&out, format, append(learningPanels(episodes), comparisonPanel(episodes))); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// learningPanels returns the four panels of the first run's learning.
func learningPanels(episodes []Episode) (panels []chart.Chart) {
	uses := 0
	for _, p := range []struct {
		title, unitTolerance string
		value                func(Episode) float64
	}{
		{"Episode rewards", "reward", func(e Episode) float64 { return e.Reward }},
		{"Steps per episode", "primitive steps", func(e Episode) float64 { return float64(e.Steps) }},
		{"Skills in library", "skills", func(e Episode) float64 { return float64(e.Skills) }},
		{"Cumulative skill uses", "uses", func(e Episode) float64 { uses += e.Uses; return float64(uses) }},
	} {
		var line chart.Line
		for _, e := range episodes {
			if e.Run == 0 && e.Agent == WithSkills && e.Part == Learning {
				line.X, line.Y = append(line.X, float64(e.Number)), append(line.Y, p.value(e))
			}
		}
		panels = append(panels, panel(p.title, p.unitTolerance, line))
	}
	return panels
}

// panel fits the axes to the lines; the vertical axis begins at 0 unless there
// are negative values.
func panel(title, unitTolerance string, lines ...chart.Line) chart.Chart {
	c := chart.Chart{Title: title, X: chart.Axis{Label: "episode", From: 1}, Y: chart.Axis{Label: unitTolerance, To: 1}, Lines: lines}
	for _, l := range lines {
		c.X.To = max(c.X.To, slices.Max(append(l.X, 1)))
		for _, values := range [][]float64{l.Low, l.Y, l.High} {
			c.Y.From = min(c.Y.From, slices.Min(append(values, 0)))
			c.Y.To = max(c.Y.To, 1.05*slices.Max(append(values, 0)))
		}
	}
	return c
}

// comparisonPanel returns the fifth panel.
func comparisonPanel(episodes []Episode) chart.Chart {
	without, with := quartiles(episodes, WithoutSkills), quartiles(episodes, WithSkills)
	without.Name, with.Name = "explorer without skills", "with skills"
	without.Look = 1
	c := panel(fmt.Sprintf("Steps with and without skills: median and quartiles over %d seeds", Seeds), "primitive steps", without, with)
	c.Key, c.Wide = true, true
	return c
}

// quartiles returns the quartiles of the steps of each learning episode over
// the runs.
func quartiles(episodes []Episode, agent string) (line chart.Line) {
	var steps [][]float64 // by episode
	for _, e := range episodes {
		if e.Agent != agent || e.Part != Learning || e.Number < 1 {
			continue
		}
		for len(steps) < e.Number && e.Number <= mostEpisodes {
			steps = append(steps, nil)
		}
		if e.Number <= len(steps) {
			steps[e.Number-1] = append(steps[e.Number-1], float64(e.Steps))
		}
	}
	for i, s := range steps {
		if len(s) == 0 {
			continue
		}
		line.X = append(line.X, float64(i+1))
		line.Low = append(line.Low, quantile(s, 0.25))
		line.Y = append(line.Y, quantile(s, 0.5))
		line.High = append(line.High, quantile(s, 0.75))
	}
	return line
}
