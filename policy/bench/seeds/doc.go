// Command seeds trains the policy on a number of seeds and prints what came of
// it, as the tables of policy/RESULTS.md:
//
//	go run ./policy/bench/seeds            all tables
//	go run ./policy/bench/seeds mastery-grpo stage3
//
// Every run is on one core, one after another, and its CPU time is that of the
// whole process.
package main
