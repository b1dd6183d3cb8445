// Package telemetry keeps and shows what happens in a training: a [Record] for
// each update, in a [Folder] as JSON lines and as TensorBoard events, and at the
// end as learning curves in PNG and SVG: reward and success, the divergence from
// the frozen start and the tool-token mass, entropy and the norm of the gradient.
// [Chart] draws the success in a terminal.
//
//	folder, err := telemetry.Open(dir, 0, time.Now)
//	err = folder.Write(record) // for each update
//	err = folder.Close()       // draws the curves
//
// A folder of a run that is resumed is opened at the update of its checkpoint:
// what was written beyond that is dropped, since it happens again.
//
// The names of the figures are those of package policy's Metrics, and the same
// in JSON, in TensorBoard and on Server-Sent Events.
package telemetry
