package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// add draws the parts between gaps, and a dot where the line has come to.
func (l Line) add(p *plot.Plot) error {
	look, part := lookOf(l.Look), plotter.XYs{}
	var dots plotter.XYs
	flush := func(last bool) error {
		if len(part) == 1 || last && len(part) > 0 {
			dots = append(dots, part[len(part)-1])
		}
		if len(part) > 1 {
			line, err := plotter.NewLine(part)
			if err != nil {
				return err
			}
			line.LineStyle = draw.LineStyle{Color: look.color, Width: 1.75, Dashes: look.dashes}
			p.Add(line)
		}
		part = plotter.XYs{}
		return nil
	}
	for i, v := range l.Y {
		if !math.IsNaN(v) {
			part = append(part, plotter.XY{X: l.X[i], Y: v})
		} else if err := flush(false); err != nil {
			return err
		}
	}
	if err := flush(true); err != nil || len(dots) == 0 {
		return err
	}
	scatter, err := plotter.NewScatter(dots)
	if err != nil {
		return err
	}
	scatter.GlyphStyle = draw.GlyphStyle{Color: look.color, Shape: draw.CircleGlyph{}, Radius: 2.5}
	p.Add(scatter)
	return nil
}

// addBand fills what lies between Low and High.
func (l Line) addBand(p *plot.Plot) error {
	if len(l.Low) == 0 {
		return nil
	}
	var edge, back plotter.XYs
	for i, x := range l.X {
		if !math.IsNaN(l.Low[i]) && !math.IsNaN(l.High[i]) {
			edge, back = append(edge, plotter.XY{X: x, Y: l.Low[i]}), append(back, plotter.XY{X: x, Y: l.High[i]})
		}
	}
	slices.Reverse(back)
	band, err := plotter.NewPolygon(append(edge, back...))
	if err != nil {
		return err
	}
	c := lookOf(l.Look).color
	band.Color, band.Width = color.NRGBA{c.R, c.G, c.B, 0x38}, 0
	p.Add(band)
	return nil
}
