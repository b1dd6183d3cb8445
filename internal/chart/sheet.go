package chart

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"toolgym/internal/refusal"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The measures of a sheet.
const (
	columns = 2
	sheetX  = 420
	sheetY  = 250
	margin  = 14
	keyLine = 18 // of the legend, a line a series
)

// Write draws charts below and beside each other as a file of its own, svg or
// png, on white. The lines of the first are named above all of them, or each chart
// that has a [Chart.Key] names its own.
func Write(w io.Writer, format string, charts []Chart) error {
	places, rows := arrange(charts)
	keyed := len(charts) == 0 || slices.ContainsFunc(charts, func(c Chart) bool { return c.Key })
	head := vg.Length(0)
	if !keyed {
		head = vg.Length(keyLine*len(charts[0].Lines) + margin)
	}
	width, height := vg.Length(columns*sheetX), vg.Length(max(1, rows)*sheetY)+head
	canvas, err := canvasOf(format, width, height)
	if err != nil {
		return err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	for i, c := range charts {
		if err := c.put(whole, places[i], height-head); err != nil {
			return err
		}
	}
	if !keyed {
		key := newKey()
		for _, l := range charts[0].Lines {
			l.name(&key)
		}
		key.Draw(draw.Crop(whole, 2*margin, -margin, height-head, -margin/2))
	}
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("encoding %s: %w", format, err)
	}
	return nil
}

// A place is where a chart lies in a sheet.
type place struct{ row, column, span int }

// arrange fills rows from the left.
func arrange(charts []Chart) (places []place, rows int) {
	column := 0
	for _, c := range charts {
		span := 1
		if c.Wide {
			span = columns
		}
		if column+span > columns {
			rows, column = rows+1, 0
		}
		places = append(places, place{rows, column, span})
		column += span
	}
	if column > 0 {
		rows++
	}
	return places, rows
}

// put draws a chart at its place below top.
func (c Chart) put(whole draw.Canvas, at place, top vg.Length) error {
	p, err := c.plot()
	if err != nil {
		return err
	}
	p.Title.Text = c.Title
	left, right := vg.Length(at.column*sheetX), vg.Length((at.column+at.span)*sheetX)
	top -= vg.Length(at.row * sheetY)
	area := draw.Canvas{Canvas: whole.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: left + margin, Y: top - sheetY + margin}, Max: vg.Point{X: right - margin, Y: top - margin},
	}}
	if c.Key {
		p.Title.Padding += keyLine
		below := area
		below.Max.Y -= p.Title.TextStyle.Height(c.Title)
		below.Min.X = p.DataCanvas(area).Min.X
		c.nameInARow(below)
	}
	p.Draw(area)
	return nil
}

// nameInARow names the lines beside each other, from the upper left.
func (c Chart) nameInARow(area draw.Canvas) {
	for _, l := range c.Lines {
		key := newKey()
		l.name(&key)
		key.Draw(area)
		area.Min.X += key.Rectangle(area).Size().X + margin
	}
}

// canvas is what both formats are.
type canvas interface {
	vg.CanvasSizer
	vg.CanvasWriterTo
}

func canvasOf(format string, width, height vg.Length) (canvas, error) {
	switch format {
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}, nil
	case "svg":
		return vgsvg.New(width, height), nil
	}
	return nil, refusal.New("format", "svg or png", "unknown format %.40q", format)
}

// newKey is a legend that begins in the upper left.
func newKey() plot.Legend {
	p := plot.New()
	dress(p)
	key := p.Legend
	key.Left, key.Top = true, true
	key.ThumbnailWidth = 32
	key.Padding = 4
	return key
}

// name adds a line to a legend.
func (l Line) name(key *plot.Legend) {
	look := lookOf(l.Look)
	key.Add(l.Name, &plotter.Line{LineStyle: draw.LineStyle{Color: look.color, Width: 1.75, Dashes: look.dashes}})
}
