// Command loadtest measures a toolgym server under load, on the loopback alone,
// and says whether it kept its promises: no error, no step lost or made twice.
//
//	go run ./api/loadtest                       2,000 episodes, 64 clients, two minutes
//	go run ./api/loadtest -kill                 the same, with a kill -9 in the middle
//	go run ./api/loadtest -clients 16 -d 20s    how many calls a second
//	go run ./api/loadtest -hostile              a fifth of the clients send hostile requests
//
// It builds the command toolgym, starts serve with a data folder of its own, and
// plays gridworld: each client goes round its episodes, makes one call in each,
// with a request id, and compares the number of the step that it is told with
// its own count. An episode that has ended is deleted and followed by a new one.
// At the end every live episode is asked for, and its steps are counted.
//
// Before that, the same clients send the same bodies for a short while to a bare
// Echo handler, in a process of its own, that decodes and encodes the same JSON:
// what the machine gives at that moment.
//
// # Hostile clients
//
// With -hostile, phases with and without hostile clients alternate, two minutes
// of each by default, against one server that asks for tokens. The same honest
// clients play in both: players, who share several tokens, and a visitor, which
// scores, parses, plays over MCP and opens a page as a browser that signed in.
// The report has the figures of both and the ratio of the 99th percentiles. The
// hostile clients have one token together, with the roles play, score and train.
//
// What they send is a table (attacks): malformed and deep bodies, another Host or
// Origin, schemas and completions that cost more than they look, small requests
// with large answers, MCP messages that break the protocol, absurd settings,
// trainings and evaluations that are cancelled, and connections that stop in the
// middle. Each client goes round the table in an order of its own, with one
// request on its way at a time, at most 4 requests and 2 MiB of bodies a second,
// and bodies of at most 24 MiB. Rows that hold something (70 event streams, 70
// scoring streams, slow readers and writers, a full table of episodes and MCP
// sessions, 1,005 sign-ins) have a client each, which opens at most 200
// connections or requests a second at the beginning of a phase, and closes them
// at its end. The flag -attacks chooses rows by name. What these requests cost the
// server is limited there: requests that compute take turns (internal/turns).
//
// A status that a row does not expect, a 429 or 503 without Retry-After, and a
// connection that is closed without an answer where none is due, is a fault. So
// is a record of a panic or of the level ERROR in the server's log. Memory must
// not grow between the phases without attacks. Speed is reported and is no fault.
//
// Latency is what a client waits for its answer. While the server is away after
// a kill, clients try again with the same request id; those waits are reported
// apart. The exit code is 1 when a promise was broken.
package main
