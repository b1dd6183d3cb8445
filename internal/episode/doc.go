// Package episode has what environments share: checks of tasks, and the state of an
// episode.
//
// [CheckEnv] and [CheckLevel] return an error for a task of another environment and for
// unknown rules or levels. An environment has a [Turns], calls [Turns.Begin] in Reset,
// [Turns.CheckRunning] at the beginning of Step, and [Turns.Step] at its end. So a step
// outside of an episode is an error before anything changes, and if the task ends on the
// last allowed step, the episode is terminated and not truncated.
package episode
