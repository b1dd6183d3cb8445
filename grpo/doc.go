// Package grpo grades what a model wrote and turns the grades of a group of
// completions into what a GRPO trainer needs.
//
// The order of the work:
//
//	text or messages → attempts (package parse) → verdict on each attempt →
//	criteria → reward → group → advantages → metrics (package objective)
//
// A [Scorer] does all of it. It is safe for concurrent use, and the same request
// gives the same answer.
//
//	scorer, err := grpo.NewScorer(envs, grpo.DefaultRubric())
//	response, err := scorer.Score(ctx, grpo.Request{Groups: []grpo.Group{{
//		ID: "g", TaskID: "arithmetic/2/17", Completions: completions,
//	}}})
//
// # Tasks
//
// A [Group] is graded against a task of an environment, or against tools and
// what is expected of them (package match). In an environment the calls of a
// completion are made, in their order, in a fresh copy of the task, whatever
// results a transcript claims; a result that differs is named
// (tool_result_mismatch). The end state decides; a call after the call that
// ended the task is left over, and spoils it as an extra call spoils an
// expected-calls task.
//
// # Whose fault
//
// Only the model's own failures are scored. Where the server lost the output,
// the harness broke the task or the connection was cut, the reward is null, with
// the reason in [Failure]: the completion leaves mean and standard deviation,
// gets advantage 0, and is counted. Reward is null exactly where Failure is set.
//
// # Criteria
//
// A [Rubric] pays value × weight of each criterion. The default is the published
// reward lab's:
//
//	format      +1.0   1 when every turn is well formed (tier strict or answer)
//	schema      +1.5   share of the calls that are valid against their schema; without
//	                   calls 1 where none is needed, else 0
//	completion  +3.0   1 when the task is solved; needs a valid call where the task needs calls,
//	                   and is 0 when the model made up a tool's result
//	length      −0.05  assistant turns
//
// so that full marks in three turns are worth 5.35. The other criteria have
// weight 0 and are reported: see the Criterion constants. A rubric is the whole
// list of what is paid: what it does not name has weight 0.
//
// A criterion of the rubric's own has a formula, an expression
// (github.com/expr-lang/expr) over the criteria before it and
//
//	turns, tokens      numbers of assistant turns, and of tokens where they are known
//	matched            expected calls that were made
//	text, answer       everything that the model wrote; what it said last
//	called("name")     calls of a tool
//
// with arithmetic, comparisons, conditions, contains, startsWith, endsWith,
// matches, and abs, ceil, floor, round, min, max, len, lower, upper, trim. There
// are no loops, and the pattern of matches stands in quotes, with at most 1,000
// instructions in all of a formula. So the work of the formulas for a completion is
// known; over 1e9 steps, about a second, the criterion cannot be worked out. A
// condition is 1 or 0.
//
// A criterion that cannot be worked out (missing token counts, a division
// by zero) is an error with a reason. Where it is paid for, the reward is null;
// it is never 0.
//
// # Scoring files
//
// [Scorer.Stream] scores JSON lines of the fields
//
//	group, task_id | tools + expected, text | messages, family, finish_reason,
//	tokens, logprobs, old_logprobs, ref_logprobs, mask
//
// and answers each with
//
//	group, index, reward, valid, failure, advantage, success, criteria, defects, tier
//
// # Errors
//
// A caller's mistake is a [*tools.Error] that says where it is, by JSON pointer,
// and what would be right. What is wrong with one completion is that
// completion's failure and does not disturb the others.
//
// # Sources
//
// Group-relative advantages: DeepSeekMath, arXiv:2402.03300. No division by the
// standard deviation: Dr. GRPO, arXiv:2503.20783. Criteria normalized apart:
// GDPO, arXiv:2601.05242. Overlong ramp and clip-higher: DAPO, arXiv:2503.14476.
// Sequence-level ratio: GSPO, arXiv:2507.18071. Divergence estimators: Schulman
// 2020. Assignment: Kuhn 1955, Jonker and Volgenant 1987. The metrics' names are
// those that TRL prints.
package grpo
