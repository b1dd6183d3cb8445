// Package contest times programs beside each other, on one machine and in one
// run.
//
// [Hold] lets contestants take turns, so that what else the machine does falls
// on all alike, and [Times] has the medians of what the rounds took, and of each
// round's ratios. A turn tells its own time: that of the processor ([CPU]) where
// other work must not count, or the wall's. A [Peer] is a contestant in another
// language, which works on demand.
package contest
