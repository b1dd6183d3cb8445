package chart

import (
	"fmt"
	"image/color"
	"io"

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
// png, on white, with the legend of the first.
func Write(w io.Writer, format string, charts []Chart) error {
	rows := (len(charts) + columns - 1) / columns
	key := vg.Length(0)
	if len(charts) > 0 {
		key = vg.Length(keyLine*len(charts[0].Lines) + margin)
	}
	width, height := vg.Length(columns*sheetX), vg.Length(max(1, rows)*sheetY)+key
	canvas, err := canvasOf(format, width, height)
	if err != nil {
		return err
	}
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	for i, c := range charts {
		p, err := c.plot()
		if err != nil {
			return err
		}
		p.Title.Text = c.Title
		left, top := vg.Length(i%columns*sheetX), height-key-vg.Length(i/columns*sheetY)
		p.Draw(draw.Crop(whole, left+margin, left+sheetX-margin-width, top-sheetY+margin, top-margin-height))
	}
	if len(charts) > 0 {
		legend(charts[0], draw.Crop(whole, 2*margin, -margin, height-key, -margin/2))
	}
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("encoding %s: %w", format, err)
	}
	return nil
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

// legend names the lines, in the upper left.
func legend(c Chart, area draw.Canvas) {
	p := plot.New()
	dress(p)
	key := p.Legend
	key.Left, key.Top = true, true
	key.ThumbnailWidth = 32
	key.Padding = 4
	for _, l := range c.Lines {
		look := lookOf(l.Look)
		key.Add(l.Name, &plotter.Line{LineStyle: draw.LineStyle{Color: look.color, Width: 1.75, Dashes: look.dashes}})
	}
	key.Draw(area)
}
