// Package internal holds the rooms that no other module may enter, and the
// test of the house itself.
//
// The package has no code of its own. Its tests read every Go file of the
// module and check what is measurable of the house rules:
//
//   - imports go one way, as the table in rooms_test.go says, and a room
//     without a row in that table is refused;
//   - each large dependency is imported only by the rooms it is confined to;
//   - a file has at most 700 lines and a function at most 80, tests included;
//   - every package has its documentation in doc.go;
//   - an example has at most 80 lines;
//   - no init function, no vague words in names, no path that leads out of
//     the repository, no folder at the top that the design does not name.
//
// Run them with
//
//	go test ./internal -run House -v
//
// which also prints the figures. A rule that is broken is mended in the code;
// a new room gets a row in rooms_test.go, with the direction of its imports.
//
// Below this folder are the rooms that serve several others: goroutine starts
// goroutines that recover from panics, refusal makes the
// errors for a caller's mistakes, quota limits what one caller uses, plain checks and
// shows names and text of others, strictjson reads JSON, ndjson and sse are the
// two forms of streams, intake takes requests in, chart draws; episode and
// calculator are what environments share; evaluation plays evaluations and
// store keeps them. The rest is for tests and benches alone:
// ollamatest runs a real Ollama, testkit holds what tests of several packages
// share, contest times programs beside each other, and
// parts says which outside programs a test may ask for and what happens when
// one is missing.
package internal
