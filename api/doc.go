// Package api serves the gym over HTTP: environments, tools, tasks and episodes
// under /v1, described by OpenAPI 3.1 at /openapi.json and, for people, at
// /docs.
//
// # A server
//
//	server, err := api.New(api.Config{Specs: tools.Specs{arithmetic.Spec(), gridworld.Spec()}})
//	go func() { done <- server.ListenAndServe("127.0.0.1:8080") }()
//	…
//	err = server.Shutdown(ctx)
//
// One's own environments are served beside ours by putting their tools.Spec
// into Specs. A tool that Spec.Tools lists with a handler is one that needs no
// episode, and can be called as POST /v1/tools/{name}/calls; those that act on
// a state are listed without (see tools.Bind). A [Server] is an http.Handler as
// well, and takes its clock and its ids from the [Config]. Its only goroutine is
// the one that writes the database, where Config.Data names one; Shutdown ends it.
//
// # Episodes
//
// An episode is a task and the steps made so far. Its calls are made one at a
// time, in the order in which they arrive; a client that hangs up loses the
// answer, not the step, and learns it by sending the same request_id again.
// The steps are the truth: after a step that did not end well (an environment
// that returned an error, panicked or took too long) the environment is made
// again from them, and so is a fork. An environment must therefore give the
// same steps for the same calls, as [tools.Env] says.
//
// With Config.Data every accepted step is in the database, on disk, before it is
// answered; steps that wait at the same time share one commit. A server that
// starts replays the live episodes and goes on where the last one stopped,
// however that ended: ids, request ids and times to expire stay what they were.
// An episode whose replay gives other steps than before (its environment has
// changed) is over. When a step could not be written, it is unknown whether it
// was: the next call on its episode reads the database first. One server plays
// the episodes of a database; a second one is refused.
//
// Episodes are bounded in number, in memory and in age. When there is no room,
// those that have ended go first; live ones stay, and a newcomer is told to
// come again. Expiry is by the clock handed in and needs no goroutine. The ids
// of the latest expired episodes are remembered, so that their owners get 410
// and not 404.
//
// # Tokens
//
// Without tokens everybody who reaches the server may do everything, and Serve
// keeps to the loopback. With Config.Tokens a request needs one, as a bearer
// token or in X-API-Key; each route names the role that it asks for, and what a
// token has begun belongs to it. SECURITY.md lists what is defended, and the
// test that holds each line.
//
// # Scoring
//
// POST /v1/parse, /v1/score and /get_reward are package grpo over HTTP, by the
// rubric of the [Config] where a request brings none. Tool lists are compiled
// once for equal bytes. Bodies of up to 64 MiB are taken there, and are bounded
// together; a body that does not say its length counts as the longest.
//
// POST /v1/score/stream answers JSON lines while they are being sent, in memory
// that does not grow with them. Every line and every answer has a time limit of
// its own (Config.StreamTimeout), so that a client which stops sending, or stops
// reading, is let go. What goes wrong before the first answer is a problem
// document; afterwards the answer breaks off, which a chunked body makes plain.
//
// # Policy runs and evaluations
//
// Package training runs the trainings that POST /v1/policy/runs starts, package
// assessment the evaluations of POST /v1/evals. Both outlive requests, are
// bounded in number, and are found again by the next server on the same
// Config.Data, to be gone on with. They belong to the token that began them, and
// do not exist for others. Their events are Server-Sent Events of package
// feed: ids are numbers, and Last-Event-ID goes on behind one.
//
// # MCP
//
// At /mcp, and over a pair of streams by [Server.ServeMCP], a session is an
// episode: it begins when the session is initialized, has its id, and plays the
// task that ?task_id= names. Reward and end of a step stand in the _meta of a
// result, where models do not see them.
//
// # Operation
//
// /metrics is for Prometheus, in labels of a bounded number of values;
// Config.Traces sends spans by OTLP; /readyz says why the server is not ready.
// api/loadtest measures the server under load, RESULTS.md has the figures.
//
// # Requests
//
// A body is one strict JSON value (package strictjson): no duplicate keys, no
// invalid UTF-8, numbers exact. It is checked against the schema that the
// OpenAPI document shows, by the validator that checks a tool's arguments.
// Unknown fields and parameters, and parameters that stand twice, are refused.
// GET routes answer HEAD. X-Request-Id is taken over when it is fit for a log
// line, made otherwise, and always answered.
//
// # Refusals
//
// Every refusal is a problem document (RFC 9457), [client.Problem]. One table,
// in problem.go, maps the codes of tools.Error to HTTP:
//
//	invalid 422 · unauthorized 401 · forbidden 403 · not_found 404 ·
//	conflict 409 · gone 410 · too_large 413 · exhausted 503 · unavailable 503
//
// HTTP itself adds 400 (no JSON), 405, 408, 413, 415, 421 (a Host that is not
// ours), 403 (a page of another origin) and 429; 429 and 503 say in Retry-After
// when to come again. What goes wrong on our side is 500 with nothing but the
// request id, and is logged once, in the record of the request. What cannot be
// kept because the disk is full is 503 (exhausted), and logged as well.
//
// # Adding a resource
//
// A resource has one file (episodes, score, policy, evaluations, lab, mcp): its
// input types, its handlers, and a method that declares its routes with handle;
// then a line in Server.routes. A field of
// type body in the input is the JSON body. Handlers return domain errors and
// know nothing of HTTP.
//
// # What huma and Echo are kept from
//
// huma's own documentation page loads scripts from elsewhere, its openapi.json
// is written without a lock by the first reader, it reads bodies by way of
// encoding/json and float64, echoes offending values (up to the whole body) in
// errors, and does not see parameters in an embedded unexported struct. Echo
// trusts X-Forwarded-For unless told not to, and calls every middleware's
// constructor for every request, so that nothing may be prepared in it. All of
// that is worked around in body.go, openapi.go, problem.go, middleware.go and
// server.go.
package api
