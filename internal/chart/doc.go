// Package chart draws line charts with gonum/plot, for pages and for files.
//
//	c := chart.Chart{Title: "Mean reward", X: chart.Axis{Label: "update", From: 1, To: 30},
//		Lines: []chart.Line{{Name: "run 1", Look: 0, X: xs, Y: ys}}}
//	drawing, err := c.Draw()           // SVG for a page, and where the data lie in it
//	err = chart.Write(w, "png", []chart.Chart{c, other}) // a file of its own
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
// # In a file
//
// [Write] lays charts out in two columns, one that is Wide over both. Their lines
// are named above all of them, where all have the same, or below each title. The
// learning curves of package telemetry and the plots of package skill are made
// here, as are the files of the lab's training page.
//
// # For people who do not see it
//
// A drawing has a title and a description, which says where each line ended.
// The numbers themselves belong in a table beside it.
package chart
