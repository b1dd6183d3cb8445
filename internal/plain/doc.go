// Package plain keeps names and text that others wrote from being taken for
// something else where they are shown:
//
//	err := plain.Name("run", name)      // a name that a caller gives
//	fmt.Fprintln(terminal, plain.Line(model))
//	table.Write([]string{plain.Cell(reason)})
//
// Names are checked once, where they are given. Text of models, files and
// databases is kept as it is, and made visible where it is shown: control
// characters could command a terminal, format characters such as U+202E turn
// the text around them, and some begin a formula in a spreadsheet.
package plain
