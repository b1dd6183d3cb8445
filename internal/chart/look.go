package chart

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
)

// A Look is how the lines of one series are drawn, as the attributes of SVG have
// it: Stroke as #RRGGBB, Dashes as lengths between commas, empty for none.
type Look struct{ Stroke, Dashes string }

// look is a Look as gonum takes it.
type look struct {
	color  color.RGBA
	dashes []vg.Length
}

// looks are six: colours that people who do not see red or green tell apart
// (after Okabe and Ito, darkened to be legible on white), each with dashes of
// its own.
func looks() [6]look {
	return [...]look{
		{color.RGBA{0x00, 0x72, 0xb2, 0xff}, nil},
		{color.RGBA{0xb3, 0x4d, 0x00, 0xff}, []vg.Length{7, 3}},
		{color.RGBA{0x00, 0x7a, 0x59, 0xff}, []vg.Length{2, 2}},
		{color.RGBA{0xa2, 0x3d, 0x78, 0xff}, []vg.Length{8, 3, 2, 3}},
		{color.RGBA{0x6a, 0x4a, 0xb5, 0xff}, []vg.Length{12, 4}},
		{color.RGBA{0x7a, 0x5c, 0x00, 0xff}, []vg.Length{5, 2, 1, 2, 1, 2}},
	}
}

// Looks lists the looks, the first of which has Look 0 of a [Line].
func Looks() []Look {
	var list []Look
	for _, l := range looks() {
		dashes := make([]string, len(l.dashes))
		for i, d := range l.dashes {
			dashes[i] = fmt.Sprint(float64(d))
		}
		list = append(list, Look{hex(l.color), strings.Join(dashes, ",")})
	}
	return list
}

func lookOf(i int) look { all := looks(); return all[i%len(all)] }

// The colours besides those of lines.
var (
	labels = color.RGBA{0x54, 0x5d, 0x6e, 0xff} // text
	axes   = color.RGBA{0x80, 0x89, 0x9a, 0xff} // the axis
	grid   = color.RGBA{0xd9, 0xdd, 0xe4, 0xff} // lines behind the data
	marks  = color.RGBA{0xa8, 0x23, 0x2c, 0xff} // a bound
)

// Ink lists the colours besides those of lines: of text, axes, the grid behind
// the data, and bounds.
func Ink() []string { return []string{hex(labels), hex(axes), hex(grid), hex(marks)} }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }
