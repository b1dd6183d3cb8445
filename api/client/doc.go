// Package client is the Go client of the REST API of a toolgym server.
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
// [tools.Agent] plays over REST as it plays in process; [Client.Play] plays a
// whole task and returns the trajectory of the server.
//
// # Scoring
//
// [Client.Parse], [Client.Score] and [Client.GetReward] send one request each.
// [Client.ScoreStream] sends any number of lines and returns their scores while
// they are being sent.
//
// # Trainings and evaluations
//
// [Client.StartPolicyRun] and [Client.StartEval] start jobs that outlive the
// request and are addressed by their id or name. [Client.WatchPolicyRun] and
// [Client.WatchEval] yield their events:
//
//	for event, err := range c.WatchPolicyRun(ctx, run.ID, 0) {
//		…
//	}
//
// A broken connection is opened again after the last [Event].
// [Client.EvalReport] and [Client.CompareEvals] return the results of evaluations,
// [Client.Act] plans with a trained policy, and [Client.ExportTRL] returns a
// training script.
//
// # Errors
//
// An error of the caller is a [*tools.Error] with the code, the place and the
// expectation of the problem document, as it is in process. An internal error of
// the server, or one of the network, is an ordinary wrapped error; that of the
// server has the request id of its log.
//
// # Retries
//
// Only requests that are safe to repeat are sent again: reads, and calls and
// messages, whose request id makes the server execute them exactly once. They
// are repeated after a broken connection and after 429, 502, 503 and 504, after
// the time in Retry-After or after a growing pause. Starting, forking and closing
// an episode are never repeated, nor are requests that start, pause, resume or
// cancel a training or an evaluation.
//
// # Wire types
//
// Requests and responses use the types of the domain (tools.Task, tools.Step,
// tools.Result, …). The few types that exist only on the wire are in wire.go;
// package api uses the same.
package client
