// Package assessment is the evaluations that a server has under way: begun by
// requests, watched, cancelled and gone on with.
//
//	desk := assessment.New(assessment.Config{Room: room, Busy: quota.Limits{All: 1, Each: 1}, Logger: logger})
//	state, err := desk.Begin(ctx, request)
//	events, err := desk.Events(ctx, name)
//	err = desk.Cancel(ctx, name)
//	desk.Close()
//
// What an evaluation is, package evaluation says: the same request on the
// command line does the same, and what one has begun the other lists, reports
// and goes on with. Everything that is kept lies in the database; here are only
// the goroutines that play, and the feeds of trials for those who watch. An
// evaluation whose server ends is stopped; the same request with resume plays
// what is missing.
package assessment
