// Package episode keeps what the gym's environments have in common: it refuses
// tasks that are not theirs ([Of], [Known]), counts the turns of an episode and
// decides how each one ends.
//
// An environment holds a [Turns], calls [Turns.Begin] when it is reset,
// [Turns.Open] before it does anything in a step, and [Turns.Take] when the
// step is done. A step outside of a running episode is thereby refused before
// it can change anything, the end of a task wins over the limit when both fall
// on one step, and nothing but the constructors of package tools ever sets
// Terminated or Truncated.
package episode
