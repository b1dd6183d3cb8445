package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolgym/internal/chart"
	"toolgym/tools"
)

// sample has a gap, a lone value, and names that would be markup.
func sample() chart.Chart {
	nan := math.NaN()
	return chart.Chart{Title: "Reward <b>", X: chart.Axis{Label: "update", From: 1, To: 5}, Mark: &chart.Mark{Name: "bound", At: 0.12}, Lines: []chart.Line{
		{Name: `"one" & only`, Look: 0, X: []float64{1, 2, 3, 4, 5}, Y: []float64{0.1, 0.2, nan, 0.3, nan}},
		{Name: "two", Look: 7, X: []float64{1, 2}, Y: []float64{-1, 2}},
		{Name: "none", Look: 2},
	}}
}

func TestDrawingKeepsThePolicy(t *testing.T) {
	got, err := sample().Draw()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"style=", "<b>", "NaN", "xml version", "#000000", "currentColor"} {
		if strings.Contains(got.SVG, bad) {
			t.Errorf("the drawing has %s:\n%s", bad, got.SVG)
		}
	}
	for _, want := range []string{`<svg viewBox="0 0 340 190"`, `role="img"`, "<title>Reward &lt;b&gt;</title>", "one&#34; &amp; only: 0.3 at update 4", "bound: 0.12", `stroke-dasharray="7,3"`} {
		if !strings.Contains(got.SVG, want) {
			t.Errorf("the drawing lacks %s:\n%s", want, got.SVG)
		}
	}
	known := chart.Ink()
	for _, look := range chart.Looks() {
		known = append(known, look.Stroke)
	}
	for _, used := range regexp.MustCompile(`#[0-9A-Fa-f]{6}`).FindAllString(got.SVG, -1) {
		if !slices.Contains(known, used) {
			t.Errorf("a colour that no page knows: %s", used)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(got.SVG)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, got.SVG)
		}
	}
	if !(got.Left > 0 && got.Left < got.Right && got.Right <= 1) {
		t.Errorf("data from %v to %v", got.Left, got.Right)
	}
}

// TestAxes has the ranges that make an axis go wrong.
func TestAxes(t *testing.T) {
	for name, y := range map[string][]float64{"nothing": nil, "one value": {3}, "all the same": {0, 0, 0}, "tiny": {1e-9, 2e-9}, "huge": {-4e12, 9e12}, "gaps alone": {math.NaN()}} {
		t.Run(name, func(t *testing.T) {
			x := make([]float64, len(y))
			for i := range x {
				x[i] = float64(i + 1)
			}
			got, err := chart.Chart{Title: name, X: chart.Axis{Label: "update", From: 1, To: float64(len(y))}, Lines: []chart.Line{{Name: "a", X: x, Y: y}}}.Draw()
			if err != nil || strings.Count(got.SVG, "<text") < 4 {
				t.Errorf("%v: %s", err, got.SVG)
			}
		})
	}
}

func TestRound(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 3, 4: 5, 6: 7, 8: 10, 11: 15, 16: 20, 21: 30, 31: 50, 400: 500, 4001: 5000, 7001: 10000} {
		if got := chart.Round(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}

// TestSheet has charts of one row and of half of one, each naming its own lines,
// and a band.
func TestSheet(t *testing.T) {
	keyed, wide, plain := sample(), sample(), sample()
	keyed.Key, keyed.Y.Label = true, "metres"
	wide.Key, wide.Wide, wide.Lines[1].Name = true, true, "only in the wide one"
	wide.Lines[0].Low, wide.Lines[0].High = []float64{0, 0, math.NaN(), 0, 0}, []float64{1, 1, 1, math.NaN(), 9}
	for name, c := range map[string]struct {
		charts []chart.Chart
		height int
		says   map[string]int
	}{
		"named above":             {[]chart.Chart{plain, plain}, 250 + 3*18 + 14, map[string]int{">two<": 1, ">metres<": 0}},
		"named by each":           {[]chart.Chart{keyed, keyed, plain}, 500, map[string]int{">two<": 2, ">metres<": 2}},
		"a wide one after one":    {[]chart.Chart{keyed, wide}, 500, map[string]int{">two<": 1, ">only in the wide one<": 1}},
		"a wide one after two":    {[]chart.Chart{keyed, plain, wide}, 500, map[string]int{">two<": 1, ">only in the wide one<": 1}},
		"a wide one before two":   {[]chart.Chart{wide, plain, keyed}, 500, map[string]int{">two<": 1, ">only in the wide one<": 1}},
		"nothing is an empty one": {nil, 250, map[string]int{"<text": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var svg, picture bytes.Buffer
			if err := errors.Join(chart.Write(&svg, "svg", c.charts), chart.Write(&picture, "png", c.charts)); err != nil {
				t.Fatal(err)
			}
			if got, err := png.DecodeConfig(&picture); err != nil || got.Height != 2*c.height || got.Width != 1680 {
				t.Errorf("%+v, %v", got, err)
			}
			for text, want := range c.says {
				if got := strings.Count(svg.String(), text); got != want {
					t.Errorf("%s stands there %d times, want %d", text, got, want)
				}
			}
			if strings.Contains(svg.String(), "NaN") {
				t.Error("a gap is drawn")
			}
		})
	}
	if drawing, err := wide.Draw(); err != nil || !strings.Contains(drawing.SVG, "fill-opacity") {
		t.Errorf("no band: %v, %s", err, drawing.SVG)
	}
}

func TestWrite(t *testing.T) {
	charts := []chart.Chart{sample(), sample(), sample()}
	var svg, picture bytes.Buffer
	if err := chart.Write(&svg, "svg", charts); err != nil || strings.Count(svg.String(), "Reward &lt;b&gt;") != 3 || !strings.Contains(svg.String(), "only") {
		t.Errorf("%v: %s", err, svg.String())
	}
	for _, fill := range regexp.MustCompile(`(?:fill|stroke):([^;"]*)`).FindAllStringSubmatch(svg.String(), -1) {
		if fill[1] != "none" && !regexp.MustCompile(`^#[0-9A-F]{6}$`).MatchString(fill[1]) {
			t.Errorf("the file has the colour %q", fill[1])
		}
	}
	if err := chart.Write(&picture, "png", charts); err != nil {
		t.Fatal(err)
	}
	if got, err := png.Decode(&picture); err != nil || got.Bounds().Dx() != 1680 {
		t.Errorf("%v, %v", got.Bounds(), err)
	}
	if err := chart.Write(io.Discard, "svg", nil); err != nil {
		t.Error(err)
	}
	var refusal *tools.Error
	if err := chart.Write(io.Discard, "gif", charts); !errors.As(err, &refusal) || refusal.Code != tools.Invalid {
		t.Errorf("gif: %v", err)
	}
}
