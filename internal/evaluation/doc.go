// Package evaluation joins what an evaluation needs: it turns a [Request],
// which is what the command line's flags and the body of POST /v1/evals say,
// into servers, tasks and a run in the store, plays what is missing, and makes
// reports of what is kept.
//
//	room := evaluation.Room{Specs: specs, Store: db, Now: time.Now}
//	e, err := room.Open(ctx, request)   // a new run, or an old one to go on with
//	err = e.Play(ctx, observe)
//	r, err := room.Report(ctx, e.Run.Name)
//
// Open asks every server before the first trial: it must answer, have the
// model, and have the same model as the others, by digest. A run that is gone
// on with must be the same run: model digest, tasks and settings are compared
// with those that it began with. Addresses and concurrency may differ, since
// they do not change what is measured.
//
// A report sets the model beside agents without one, which play the run's own
// tasks: one that does nothing, one that calls at random, the oracle, and the
// policies of package trained, each on the levels that it was trained on. What an agent
// leaves out is named, with the reason.
//
// A server whose readers ask for the same report again and again keeps [References]:
// what the agents made of a run is played once.
//
// [Room.Rescore] judges kept trials again, without any model.
package evaluation
