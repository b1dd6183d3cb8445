// Env serves an environment of one's own beside ours.
//
//	go run ./examples/env
//	curl -s --json '{"task_id":"guessing/0/7"}' http://127.0.0.1:8080/v1/episodes
//
// A number is to be guessed. What that takes is a tool made from a Go type, a
// state machine and a tools.Spec; the schema, the validation of arguments, task
// ids, episodes, request ids, forks and the rest come from the gym.
//
// The tool acts on a state, so it is declared once without a handler, and bound
// to the state of each game. A tool that is listed with a handler of its own is
// taken to need no episode.
package main
