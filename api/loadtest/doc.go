// Command loadtest measures a toolgym server under load, on the loopback alone,
// and says whether it kept its promises: no error, no step lost or made twice.
//
//	go run ./api/loadtest                       2,000 episodes, 64 clients, two minutes
//	go run ./api/loadtest -kill                 the same, with a kill -9 in the middle
//	go run ./api/loadtest -clients 16 -d 20s    how many calls a second
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
// Latency is what a client waits for its answer. While the server is away after
// a kill, clients try again with the same request id; those waits are reported
// apart. The exit code is 1 when a promise was broken.
package main
