// Package report says what an evaluation found, to people and to programs.
//
//	r, err := report.New(run, records, baselines, source)
//	err = r.Write(w, report.HTML)
//
// A [Report] is derived from the records of a run, and from trials of agents
// that it is compared with. One list of sections is rendered as [Text] for a
// terminal, as [Markdown] and as one [HTML] file without any reference to the
// network: figures are inline SVG that follows the page's light or dark
// colours. [JSON] is the report's own fields, [CSV] has a line a trial, and
// [JUnit] shows a run to a build server: a failure of the model is a failure
// there, a trial that could not be graded is an error.
//
// A report shows the headline with its interval, the coverage and the worst
// case; the criteria; each environment and level; pass@k and pass^k; the
// baselines, and what they left out; how the model fails, with an example of each kind; what could not
// be graded and why; the chat route against the raw one; tasks that never,
// always or sometimes pass; tokens and speed; and how it was run, to the
// model's digest, with the command that repeats it.
//
// A part that cannot be computed does not affect the others: it is a [Gap], and
// a section, a figure or a field of JSON in its place says why. A baseline that
// cannot play a task leaves it out, and the report names it with the reason;
// CSV and JUnit have such notes in a column and in properties.
//
// The same records and the same seed give the same bytes.
package report
