// Package telemetry records a training: a [Record] per update, in a [Folder] as JSON
// lines and TensorBoard events, and at the end learning curves in PNG and SVG: reward
// and success, the divergence from the initial policy and the tool-token mass, entropy
// and the norm of the gradient. [Chart] draws the success in a terminal.
//
//	folder, err := telemetry.Open(dir, 0, time.Now)
//	err = folder.Write(record) // after each update
//	err = folder.Close()       // draws the curves
//
// The folder of a resumed run is opened at the update of its checkpoint; later records
// are dropped, since these updates are repeated.
//
// Metric names are those of package policy's Metrics, in JSON, TensorBoard and
// Server-Sent Events alike.
package telemetry
