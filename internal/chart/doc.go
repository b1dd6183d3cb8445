// Package chart draws line charts with gonum/plot, for pages and for files.
//
//	c := chart.Chart{Title: "Mean reward", X: chart.Axis{Label: "update", From: 1, To: 30},
//		Lines: []chart.Line{{Name: "run 1", Look: 0, X: xs, Y: ys}}}
//	drawing, err := c.Draw()           // SVG for a page, and where the data lie in it
//	err = chart.Write(w, "png", "Two runs", []chart.Chart{c, other})
//
// # On a page
//
// A drawing is SVG without a style attribute, which a Content-Security-Policy
// forbids: what gonum writes as style stands in attributes instead. It has a
// viewBox and no size of its own, so that it is as wide as its place.
//
// Its colours are those of [Ink] and [Looks], and no others. They are legible on
// white; a page that has themes replaces them by name, as in
//
//	.chart [stroke="#0072B2"] { stroke: var(--series-1); }
//
// Lines are told apart by their dashes as well as by colour. A value that is not
// a number leaves a gap; a value between two gaps is a dot.
//
// # For people who do not see it
//
// A drawing has a title and a description, which says where each line ended.
// The numbers themselves belong in a table beside it.
package chart
