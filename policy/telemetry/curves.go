package telemetry

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

	"toolgym/tools"
)

// The size of the drawing.
const (
	width  = 9 * vg.Inch
	height = 6 * vg.Inch
)

// palette are colours that colour-blind people tell apart (Okabe and Ito).
func palette(i int) color.Color {
	colors := []color.RGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255}, {86, 180, 233, 255},
	}
	return colors[i%len(colors)]
}

// panel is one of the four plots, with a curve for each series.
type panel struct {
	title  string
	series []series
}

// Curves draws the learning curves of a run as png or svg: reward, success for
// each stage, entropy, and the norm of the gradient. Curves are means over
// neighbouring updates where there are many.
func Curves(records []Record, format string) ([]byte, error) {
	panels := [][]panel{
		{{"reward", []series{pick("reward", records, func(r Record) *float64 { return &r.Reward })}}, {"success of sampled plans", successes(records)}},
		{{"entropy", []series{pick("entropy", records, func(r Record) *float64 { return &r.Entropy })}},
			{"gradient norm", []series{pick("gradient", records, func(r Record) *float64 { return &r.GradNorm })}}},
	}
	plots := make([][]*plot.Plot, len(panels))
	for i, row := range panels {
		for _, p := range row {
			drawn, err := p.plot()
			if err != nil {
				return nil, fmt.Errorf("drawing %s: %w", p.title, err)
			}
			plots[i] = append(plots[i], drawn)
		}
	}
	return render(plots, format)
}

func (p panel) plot() (*plot.Plot, error) {
	drawn := plot.New()
	drawn.Title.Text, drawn.X.Label.Text = p.title, "update"
	drawn.Add(plotter.NewGrid())
	for i, s := range p.series {
		if len(s.points) == 0 {
			continue
		}
		line, err := plotter.NewLine(s.points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = palette(i), vg.Points(1.5)
		drawn.Add(line)
		if len(p.series) > 1 {
			drawn.Legend.Add(s.name, line)
		}
	}
	return drawn, nil
}

// render draws plots in rows and columns.
func render(plots [][]*plot.Plot, format string) ([]byte, error) {
	var canvas interface {
		vg.CanvasSizer
		vg.CanvasWriterTo
	}
	switch format {
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
	case "svg":
		canvas = vgsvg.New(width, height)
	default:
		return nil, &tools.Error{Code: tools.Invalid, Where: "format", Message: fmt.Sprintf("unknown format %q", format), Want: "png or svg"}
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: len(plots[0]), PadX: vg.Millimeter * 5, PadY: vg.Millimeter * 5, PadTop: vg.Millimeter * 2, PadBottom: vg.Millimeter * 2, PadRight: vg.Millimeter * 4, PadLeft: vg.Millimeter * 2}
	for i, row := range plot.Align(plots, tiles, draw.New(canvas)) {
		for j, c := range row {
			plots[i][j].Draw(c)
		}
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("encoding %s: %w", format, err)
	}
	return out.Bytes(), nil
}
