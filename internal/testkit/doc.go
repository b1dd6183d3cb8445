// Package testkit holds what tests of several packages of this module share.
//
// Golden compares a result with a file in testdata; its caller defines the flag
// -update, which rewrites the file. Solve plays a task with the environment's
// oracle. CheckEpisodeSize limits the memory of a live episode, and
// ReportAgainstPython adds the rate of a Python script to a benchmark. WithGate
// and WithPanic wrap an environment so that a test can block it or make it panic.
//
// Tests of one's own environment need package tools/envtest instead.
package testkit
