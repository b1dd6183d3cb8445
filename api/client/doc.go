// Package client speaks to a toolgym server. It is the one Go client of the
// REST API: the command line, the plugin and the examples all use it.
//
// # An episode
//
//	c, err := client.New(client.Config{URL: "http://127.0.0.1:8080"})
//	episode, err := c.Start(ctx, "arithmetic/2/17")
//	step, err := episode.Step(ctx, tools.Call{Name: "multiply", Arguments: json.RawMessage(`{"a":4,"b":2}`)})
//	…
//	err = episode.Close(ctx)
//
// An [Episode] is a [tools.Caller] and a [tools.Speaker], so every
// [tools.Agent] plays over REST as it plays in process; [Client.Play] does the
// whole of it and returns the trajectory as the server kept it.
//
// # Scoring
//
// [Client.Parse], [Client.Score] and [Client.GetReward] ask for one answer each.
// [Client.ScoreStream] sends lines of any number and returns their scores while
// they are being sent.
//
// # Trainings and evaluations
//
// [Client.StartPolicyRun] and [Client.BeginEval] start what outlives the request;
// it is found again by its id or name, paused, resumed and cancelled.
// [Client.WatchPolicyRun] and [Client.WatchEval] yield what happens while it does:
//
//	for event, err := range c.WatchPolicyRun(ctx, run.ID, 0) {
//		…
//	}
//
// A connection that breaks is made again, behind the last [Event] that came.
// [Client.EvalReport] and [Client.CompareEvals] say what came out of evaluations,
// [Client.Act] lets a trained policy plan, and [Client.ExportTRL] writes the
// script of a trainer elsewhere.
//
// # Errors
//
// What the server refuses is a [*tools.Error] with the code, the place and the
// remedy of its problem document, so that errors.As works on both sides of the
// wire alike. A fault of the server itself, or of the network, is an ordinary
// wrapped error; the server's carries the request id under which its log says
// more.
//
// # Repeating
//
// A request is sent again only where that can not do harm: reads, and calls
// and messages, which carry a request id that the server answers exactly once.
// A cut connection, 429, 502, 503 and 504 are tried again, after the time that
// the server names in Retry-After or, without one, after a growing pause.
// Starting, forking and closing an episode are never repeated, nor is what
// starts, pauses, resumes or cancels a training or an evaluation.
//
// # Wire types
//
// What is sent is the domain's own types (tools.Task, tools.Step,
// tools.Result, …). The few shapes that exist only on the wire stand in
// wire.go; package api uses the same ones.
package client
