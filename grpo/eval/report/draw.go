package report

import (
	"bytes"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"toolgym/internal/chart"
)

// Two colours that can be told apart on light and dark ground, also by people
// who do not see red and green (from P. Tol's bright scheme).
func blue() color.Color  { return color.RGBA{R: 0x44, G: 0x77, B: 0xaa, A: 0xff} }
func amber() color.Color { return color.RGBA{R: 0xcc, G: 0x77, B: 0x22, A: 0xff} }

// forest draws the success rate of each level with its interval.
func (r Report) forest() (figure, error) {
	p := plot.New()
	p.X.Label.Text, p.X.Min, p.X.Max = "success, %", 0, 100
	var names []string
	var points intervals
	for i, part := range slices.Backward(r.Levels) {
		s := part.Summary
		names = append(names, part.Name)
		if s.Success == nil {
			continue
		}
		points.XYs = append(points.XYs, plotter.XY{X: 100 * *s.Success, Y: float64(len(r.Levels) - 1 - i)})
		points.XErrors = append(points.XErrors, struct{ Low, High float64 }{100 * (*s.Success - s.Interval[0]), 100 * (s.Interval[1] - *s.Success)})
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	if len(points.XYs) > 0 {
		bars, err := plotter.NewXErrorBars(points)
		if err != nil {
			return figure{}, fmt.Errorf("drawing intervals: %w", err)
		}
		dots, err := plotter.NewScatter(points)
		if err != nil {
			return figure{}, fmt.Errorf("drawing rates: %w", err)
		}
		bars.Color, bars.Width = blue(), vg.Points(1.5)
		dots.Color, dots.Shape, dots.Radius = blue(), draw.CircleGlyph{}, vg.Points(3.5)
		p.Add(bars, dots)
	}
	svg, err := render(p, 420, vg.Length(60+26*len(names)))
	return figure{svg, "Success by level, with 95 % intervals."}, err
}

// intervals are points with errors to both sides.
type intervals struct {
	plotter.XYs
	plotter.XErrors
}

// passCurves draws pass@k above pass^k.
func (r Report) passCurves() (figure, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "k", "%"
	p.Y.Min, p.Y.Max = 0, 100
	for _, curve := range []struct {
		name   string
		values []float64
		color  color.Color
		dashes []vg.Length
	}{{"pass@k", r.Summary.PassAt, blue(), nil}, {"pass^k", r.Summary.PassAll, amber(), []vg.Length{4, 3}}} {
		points := make(plotter.XYs, len(curve.values))
		for i, v := range curve.values {
			points[i] = plotter.XY{X: float64(i + 1), Y: 100 * v}
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return figure{}, fmt.Errorf("drawing %s: %w", curve.name, err)
		}
		line.Color, line.Width, line.Dashes = curve.color, vg.Points(2), curve.dashes
		p.Add(line)
	}
	p.X.Tick.Marker = wholeTicks(len(r.Summary.PassAt))
	svg, err := render(p, 420, 240)
	return figure{svg, "Solid: the chance that at least one of k trials passes (pass@k). Dashed: that all of them do (pass^k)."}, err
}

// wholeTicks marks whole numbers, at most about ten of them.
func wholeTicks(n int) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	step := (n + 9) / 10
	for k := 1; k <= n; k += step {
		ticks = append(ticks, plot.Tick{Value: float64(k), Label: fmt.Sprint(k)})
	}
	return ticks
}

// render draws without a background, in the page's own colour of text and in
// its width.
func render(p *plot.Plot, width, height vg.Length) (string, error) {
	p.BackgroundColor = color.Transparent
	canvas := vgsvg.NewWith(vgsvg.UseWH(width, height))
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("writing a figure: %w", err)
	}
	text := strings.Replace(chart.Plain(b.String()), "<svg", `<svg role="img"`, 1)
	return strings.ReplaceAll(text, "#000000", "currentColor"), nil
}
