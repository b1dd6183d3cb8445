// Package match compares the calls that a model made with the calls that a task
// expects, and a final answer with the expected one.
//
// # Calls
//
// An [Expected] lists the right calls. [Expected.Compile] checks it against the
// tools that are offered and gives a [Plan], which is safe for concurrent use;
// [Plan.Calls] compares. Both sides are multisets: nothing is deduplicated, and
// which call stands for which expected one is settled by an optimal assignment,
// so that a call which fits two expected ones never takes the wrong one's
// place. With Order set the expected calls must come in their order.
//
// An argument is right when it is the expected JSON value: numbers by value,
// exactly, so that 5, 5.0 and 50e-1 are one and "5" is another. A [Matcher]
// loosens that for one argument. An optional argument that equals the default
// of its declaration equals its absence, on either side.
//
// What is left over decides about credit: under forbid, the default, one extra
// call spoils it; divide gives 1 ÷ (1 + extra calls); allow looks away. A
// [Report] names every expected call that is missing and every call made that
// is extra, as a repetition of another or by the arguments in which it differs
// from what was expected.
//
// # Answers
//
// [Plan.Answer] compares what the model said last. A number is looked for as the
// last number of the text, a string must be the whole text; where the text marks
// its answer by one <answer>…</answer>, that is the text, and a text that marks
// two answers has none.
//
// # Bounds
//
// A task may expect at most 256 calls; of the calls made the first 1,024 are
// compared and the rest are extra. The work is at most cubic in the first
// number and linear in the second, and comparing values takes at most [MaxSteps]:
// beyond them nothing is said of the calls.
package match
