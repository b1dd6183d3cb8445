// Package eval runs a model over tasks, several trials each, and says with
// error bars how often it solves them.
//
// It keeps every (task, trial) result; every figure is derived from those. A
// trial that can not be graded (the server lost the output, the connection
// failed, the prompt did not fit) is excluded and counted, never scored as 0:
// [Summary] gives the success rate over what was scored, the coverage, and the
// worst case, in which every excluded trial counts as failed. Under 95 %
// coverage there is no headline.
//
// The interval is Wilson's with one trial a task, and a bootstrap that draws
// whole tasks with several, since trials of one task are not independent.
package eval
