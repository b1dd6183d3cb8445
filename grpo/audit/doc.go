// Package audit attacks a rubric: it tries to be paid without doing the task.
//
// A model exploits any loophole in its rubric. [Run] makes
// each attack of a suite against several tasks, scores it by the rubric, and
// compares it with an honest near miss on the same task: one call, written
// strictly and valid against its schema, with one wrong value (2.45 under the
// default rubric). An attack that scores above that is a hole, and so is one that
// is not scored at all. The report names the attack, the task and the two
// rewards.
//
// The tasks are two of expected calls, one with a final answer, and one of each
// level of the environments that are handed in, as far as they need calls and have an
// oracle, which says what the right calls are. Attacks are made from the task:
// its prompt, its tools, its right calls.
//
// A rubric that pays for the default criteria passes. One that pays for tags,
// for the number of calls, or for the right call being among others, does not.
package audit
