// Package stats holds the statistics of evaluations: intervals of a success
// rate, what several trials of a task are good for, and tests of a difference
// between two runs over the same tasks.
//
// Everything is a pure function over counts or differences, one a task, with
// the equation and its source above it. Where a function resamples it draws
// 10,000 times from the source that it is given, so that the same seed gives
// the same figure. No interval has width zero, and no resampled p-value is 0.
//
//   - [Wilson] for one trial a task, [Bootstrap] over whole tasks for several;
//   - [PassAt] and [PassAll]: pass@k and pass^k of one task, [Curves] of many;
//   - [McNemar] and [SignFlip]: is a paired difference chance; [BootstrapMean]
//     is its interval;
//   - [Holm] for several comparisons that are looked at together.
package stats
