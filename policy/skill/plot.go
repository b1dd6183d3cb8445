package skill

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a drawing.
const (
	width  = 9 * vg.Inch
	height = 9 * vg.Inch
)

// Two colours that colour-blind people tell apart (Okabe and Ito).
func blue() color.RGBA   { return color.RGBA{0, 114, 178, 255} }
func orange() color.RGBA { return color.RGBA{213, 94, 0, 255} }

// Draw draws what a course recorded, as "png" or "svg": the published four panels
// of its first run (rewards, steps, skills, cumulative uses of skills), and below them
// the steps of all runs with and without skills, median and quartiles. Nothing learnt
// gives empty panels.
func Draw(episodes []Episode, format string) ([]byte, error) {
	canvas, err := canvasOf(format)
	if err != nil {
		return nil, err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	third := whole.Size().Y / 3
	above, below := draw.Crop(whole, 0, 0, third, 0), draw.Crop(whole, 0, 0, 0, -2*third)
	first, err := published(episodes)
	if err != nil {
		return nil, err
	}
	arrange(first, above)
	compared, err := comparison(episodes)
	if err != nil {
		return nil, err
	}
	arrange([][]*plot.Plot{{compared}}, below)
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("encoding %s: %w", format, err)
	}
	return out.Bytes(), nil
}

// A surface can be drawn on and written.
type surface interface {
	vg.CanvasSizer
	vg.CanvasWriterTo
}

func canvasOf(format string) (surface, error) {
	switch format {
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.New(width, height)}, nil
	case "svg":
		return vgsvg.New(width, height), nil
	}
	return nil, invalid("format", fmt.Sprintf("unknown format %.80q", format), "png or svg")
}

func arrange(plots [][]*plot.Plot, on draw.Canvas) {
	const pad = 4 * vg.Millimeter
	tiles := draw.Tiles{Rows: len(plots), Cols: len(plots[0]), PadX: pad, PadY: pad, PadTop: pad, PadBottom: pad, PadLeft: pad, PadRight: pad}
	for i, row := range plot.Align(plots, tiles, on) {
		for j, c := range row {
			plots[i][j].Draw(c)
		}
	}
}

// published are the four panels of the first run's learning.
func published(episodes []Episode) ([][]*plot.Plot, error) {
	uses := 0
	panels := []struct {
		title, unit string
		value       func(Episode) int
		reward      bool
	}{
		{title: "Episode rewards", unit: "reward", reward: true},
		{title: "Steps per episode", unit: "primitive steps", value: func(e Episode) int { return e.Steps }},
		{title: "Skills in library", unit: "skills", value: func(e Episode) int { return e.Skills }},
		{title: "Cumulative skill uses", unit: "uses", value: func(e Episode) int { uses += e.Uses; return uses }},
	}
	plots := [][]*plot.Plot{{nil, nil}, {nil, nil}}
	for i, p := range panels {
		var points plotter.XYs
		for _, e := range episodes {
			if e.Run != 0 || e.Agent != WithSkills || e.Part != Learning {
				continue
			}
			y := e.Reward
			if !p.reward {
				y = float64(p.value(e))
			}
			points = append(points, plotter.XY{X: float64(e.Number), Y: y})
		}
		drawn := panel(p.title, p.unit)
		if _, err := addLine(drawn, points, blue()); err != nil {
			return nil, fmt.Errorf("drawing %s: %w", p.title, err)
		}
		drawn.Y.Max *= 1.05
		plots[i/2][i%2] = drawn
	}
	return plots, nil
}

func panel(title, unit string) *plot.Plot {
	drawn := plot.New()
	drawn.Title.Text, drawn.X.Label.Text, drawn.Y.Label.Text = title, "episode", unit
	drawn.Y.Min, drawn.Y.Max = 0, 1 // grows with what is added
	drawn.Add(plotter.NewGrid())
	return drawn
}

func addLine(on *plot.Plot, points plotter.XYs, c color.RGBA) (*plotter.Line, error) {
	if len(points) == 0 {
		return nil, nil
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = c, vg.Points(1.5)
	on.Add(line)
	return line, nil
}

// comparison is the fifth panel.
func comparison(episodes []Episode) (*plot.Plot, error) {
	drawn := panel(fmt.Sprintf("Steps with and without skills: median and quartiles over %d seeds", Seeds), "primitive steps")
	drawn.Legend.Top = true
	for _, who := range []struct {
		agent, name string
		color       color.RGBA
		width       vg.Length // the one below is wider, to be seen where both are the same
	}{{WithoutSkills, "explorer without skills", orange(), vg.Points(3)}, {WithSkills, "with skills", blue(), vg.Points(1.5)}} {
		low, middle, high := spread(episodes, who.agent)
		if len(middle) == 0 {
			continue
		}
		for i := range high {
			low = append(low, high[len(high)-1-i])
		}
		band, err := plotter.NewPolygon(low)
		if err != nil {
			return nil, fmt.Errorf("drawing quartiles: %w", err)
		}
		faint := color.NRGBA{who.color.R, who.color.G, who.color.B, 60}
		band.Color, band.Width = faint, 0
		drawn.Add(band)
		line, err := addLine(drawn, middle, who.color)
		if err != nil {
			return nil, fmt.Errorf("drawing medians: %w", err)
		}
		line.Width = who.width
		drawn.Legend.Add(who.name, line)
	}
	drawn.Y.Max *= 1.25 // room for the legend
	return drawn, nil
}

// spread is the quartiles of the steps of each learning episode over the runs.
func spread(episodes []Episode, agent string) (low, middle, high plotter.XYs) {
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
		x := float64(i + 1)
		low = append(low, plotter.XY{X: x, Y: quantile(s, 0.25)})
		middle = append(middle, plotter.XY{X: x, Y: quantile(s, 0.5)})
		high = append(high, plotter.XY{X: x, Y: quantile(s, 0.75)})
	}
	return low, middle, high
}
