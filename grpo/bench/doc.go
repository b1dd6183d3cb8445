//go:build unix

// Command bench times the scoring of completions beside a plain reward function
// in Python, on one core and in one run:
//
//	go run ./grpo/bench [-python /usr/bin/python3] [-rounds 5] [-completions 20000]
//
// A completion is a typical one: 200 bytes of reasoning and one hermes call of
// two arguments, out of arithmetic's tools; half of them are right. Scoring is
// reading it, validating the call, matching it with the expected one, adding up
// the criteria, and the advantages of groups of eight. The peer in peer.py does
// it as reward functions in Python do: a regular expression, json, a compiled
// jsonschema, a comparison. It is given the texts in memory and has no groups.
//
// Ours is timed in memory, as lines of a scoring file that carry their tools, by
// one worker, reading and writing included, and as the whole command toolgym
// score, which is built for it. All take turns, so that what else the machine
// does falls on all alike; the figure is CPU time, the median over the rounds.
//
// Two further tables are of wall time, since they are about two cores: in memory
// by one and by two, and the command beside POST /v1/score/stream of a server on
// the same file. On a machine with other work they say little. Before all that
// stands what a completion of 10 MB that was made to be expensive costs.
//
// It needs Debian's python3-jsonschema, or another Python that has it.
// RESULTS.md holds a run.
package main
