package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a drawing, in units of its viewBox: about the pixels of a phone.
const (
	Width  = 340
	Height = 190
)

// letters is the size of text.
const letters = 11.5

// An Axis is the range that is shown. Where From is To, it is made to fit.
type Axis struct {
	Label    string
	From, To float64
}

// A Line is a series of points from left to right. X and Y have the same length;
// NaN in Y is a gap. Low and High are the edges of a band around it, or both are
// empty; where one of the two is not a number, the band goes straight on.
type Line struct {
	Name      string
	Look      int // which of the Looks
	X, Y      []float64
	Low, High []float64
}

// A Mark is a horizontal line at a value that means something.
type Mark struct {
	Name string
	At   float64
}

// A Chart is some lines over one another.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line
	Mark  *Mark
	Key   bool // names its lines itself, below its title, where a file is written
	Wide  bool // takes a row of a file for itself
}

// A Drawing is a chart as SVG. Its data lie between Left and Right, which are
// shares of its width.
type Drawing struct {
	SVG         string
	Left, Right float64
}

// Draw draws for a page.
func (c Chart) Draw() (Drawing, error) {
	p, err := c.plot()
	if err != nil {
		return Drawing{}, err
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(Width, Height))
	whole := draw.New(canvas)
	p.Draw(whole)
	svg, err := markup(canvas, c.Title, c.describe())
	if err != nil {
		return Drawing{}, err
	}
	data := p.DataCanvas(whole)
	return Drawing{svg, float64(data.Min.X / Width), float64(data.Max.X / Width)}, nil
}

// plot sets a drawing up, without a title.
func (c Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.BackgroundColor = nil // what is transparent becomes a colour that SVG does not know
	p.X.Min, p.X.Max = c.X.From, max(c.X.To, c.X.From+1)
	p.Y.Min, p.Y.Max = c.heights()
	p.X.Tick.Marker = ticks(p.X.Min, p.X.Max, spacing(p.X.Max-p.X.Min, 5, 1))
	p.Y.Tick.Marker = ticks(p.Y.Min, p.Y.Max, spacing(p.Y.Max-p.Y.Min, 4, 0))
	p.X.Label.Text, p.Y.Label.Text = c.X.Label, c.Y.Label
	dress(p)
	lines := plotter.NewGrid()
	lines.Vertical.Color = nil
	lines.Horizontal = draw.LineStyle{Color: grid, Width: 1}
	p.Add(lines)
	if c.Mark != nil {
		if err := c.mark(p); err != nil {
			return nil, err
		}
	}
	for _, add := range []func(Line, *plot.Plot) error{Line.addBand, Line.add} { // lines lie above all bands
		for _, line := range c.Lines {
			if err := add(line, p); err != nil {
				return nil, fmt.Errorf("drawing %s of %s: %w", line.Name, c.Title, err)
			}
		}
	}
	return p, nil
}

// heights is the range of the Y axis.
func (c Chart) heights() (float64, float64) {
	if c.Y.From < c.Y.To {
		return c.Y.From, c.Y.To
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, line := range c.Lines {
		for _, values := range [][]float64{line.Y, line.Low, line.High} {
			for _, v := range values {
				if !math.IsNaN(v) {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	if c.Mark != nil {
		low, high = min(low, c.Mark.At, 0), max(high, c.Mark.At)
	}
	return around(low, high)
}

// dress gives axes and their text the look of this package.
func dress(p *plot.Plot) {
	style := func(s *text.Style, size font.Length) {
		s.Font, s.Color = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, labels
	}
	style(&p.Title.TextStyle, 1.2*letters)
	style(&p.Legend.TextStyle, letters)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		style(&axis.Tick.Label, letters)
		style(&axis.Label.TextStyle, letters)
		axis.LineStyle = draw.LineStyle{Color: axes, Width: 1}
		axis.Tick.LineStyle = axis.LineStyle
		axis.Tick.Length, axis.Padding = 0, 0
	}
	p.Title.Padding = 6
	p.X.Tick.Length = 4
	p.Y.Padding = 4
	p.Y.Width, p.Y.Tick.Width = 0, 0
}

func (c Chart) mark(p *plot.Plot) error {
	line, err := plotter.NewLine(plotter.XYs{{X: p.X.Min, Y: c.Mark.At}, {X: p.X.Max, Y: c.Mark.At}})
	if err != nil {
		return fmt.Errorf("drawing %s: %w", c.Mark.Name, err)
	}
	line.LineStyle = draw.LineStyle{Color: marks, Width: 1, Dashes: []vg.Length{3, 3}}
	p.Add(line)
	return nil
}

// describe says in words what is drawn.
func (c Chart) describe() string {
	var parts []string
	for _, l := range c.Lines {
		for i, v := range slices.Backward(l.Y) {
			if !math.IsNaN(v) {
				parts = append(parts, fmt.Sprintf("%s: %.3g at %s %.0f", l.Name, v, c.X.Label, l.X[i]))
				break
			}
		}
	}
	if c.Mark != nil {
		parts = append(parts, fmt.Sprintf("%s: %g", c.Mark.Name, c.Mark.At))
	}
	if len(parts) == 0 {
		return "Nothing yet."
	}
	return strings.Join(parts, "; ") + "."
}
