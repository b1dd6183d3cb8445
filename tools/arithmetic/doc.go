// Package arithmetic is the gym's arithmetic environment: bare machines for the
// policy, and typed tools over the same tasks for language models.
//
// # Tasks
//
// A [Problem] is drawn from a seed by [Draw]: five operands from 0 to 9, and at
// stages 3 and 4 the operators, each of × + − equally likely.
//
//	stage  computes                 the policy sees    taught plan
//	0      a*b + c                  a b c              MUL ADD ANS
//	1      (a*b + c) - d            a b c d            MUL ADD SUB ANS
//	2      (a*b + c) - (d*e)        a b c d e          MUL ADD STO MUL RCL SUB ANS
//	3      (a ∘ b) ∘ c              a ∘ b ∘ c          ∘ ∘ ANS
//	4      ((a ∘ b) ∘ c) ∘ (d ∘ e)  a ∘ b ∘ c ∘ d ∘ e  ∘₁ ∘₂ STO ∘₄ RCL ∘₃ ANS
//
// The levels "0" to "4" are the stages. Three levels more are for language
// models only: "large" is stage 2 with operands up to a million; "grounded" is
// stage 1 with letters whose values the tool lookup gives; "restraint" is a
// greeting, a thank-you or a question about the assistant, for which no tool is
// needed. Under the documented rules there are the levels 0 to 2.
//
// # Machines
//
// [NewSound] and [NewDocumented] set up a machine for a problem. It is a plain
// value: no JSON, no clock, no allocation, and a copy of it is another episode.
//
//	p := arithmetic.Draw(arithmetic.Seeded(17), 2)
//	m := arithmetic.NewSound(p)
//	gain, done := m.Step(arithmetic.Mul)
//
// The sound machine has a tape of operands, acc, left and mem. An operator
// combines left and acc, or acc and the next operand, or the next two operands;
// store moves acc to mem; recall brings mem to left, or to an empty acc. A
// token whose needs are not met, a digit and [CTX] are invalid: they change
// nothing, cost a step and are counted. [EOS] ends without an answer. The
// episode pays 1 for a correct answer and up to 0.5 for the milestones on the
// way, in their order, so that a plan which misses the target stays below 0.5.
// Step returns the reward's growth, for trainers that want it step by step.
//
// A problem is [Problem.Accidental] when its operands happen to admit a plan
// shorter than any that works for all operands (c = 0, or d·e = d). With such
// tasks in training, the short plans are what a policy learns. Leave them out
// there, never in evaluation.
//
// [NewEnumerator] offers both machines to the policy. Its Act pays gains, which
// add up to the episode's reward.
//
// # Tools
//
// [Spec] describes the environment with typed tools: multiply, add, subtract,
// divide, store, recall, answer, calculator, in this order. Numbers are exact:
// 0.1+0.2 is 0.3, integers keep every digit, and a quotient whose decimals do
// not end is rounded half to even at 12 significant digits. Numerator and
// denominator may take 4,096 bits. A fraction with more than 1,000 decimals,
// which no argument could hold, is rounded as well.
//
// An episode pays 1 when the value handed to answer is right, and lasts 16
// steps at most. A message without calls spends a step and changes nothing;
// at level restraint it ends the episode, and completes it when it has
// anything to read. A call ends it too, and fails it.
//
// The calculator is that of package internal/calculator, which other
// environments offer as well.
//
// The oracle solves every task with the tools. The task's length of a shortest
// solution is given under the documented rules only: with typed tools a model
// that computes in its head may answer at once.
//
// # The documented rules and their defects
//
// They are those of a published tutorial, pinned by testdata. Each defect was
// measured or is proved by a test here; the sound rules, or the policy's own,
// mend it.
//
//  1. The target that is rewarded is one sub-goal behind the one that is
//     described: stage 0 pays for a*b, stage 1 for a*b+c, stage 2 for
//     (a*b+c)-d. Mended: the target is what the task says.
//  2. At stage 2 no fixed plan reaches the described target: store keeps no
//     value, and nothing subtracts d*e; only accidents do. Mended: mem and left
//     hold values, and an operator uses them.
//  3. The network's context is averaged over the whole batch by a broadcasting
//     slip: no sample sees its own numbers. Mended by the pools of package policy.
//  4. The mean over context embeddings forgets the operands' order. Mended by
//     the pool "ordered".
//  5. What is printed as accuracy is the mean reward, hence values above 1.
//     Mended: success, 0 or 1, is reported beside the reward.
//  6. Tokens after the answer still carry gradient. Mended: a step after the
//     end changes nothing and returns nothing, and the policy masks it.
//  7. Stages are trained one after another, and what was learnt is forgotten:
//     ten seeds of the published run end with greedy rewards of at best 1.06,
//     0.00 and 0.18. Mended by the curriculum "mastery" of package policy.
//
// The best fixed plans of the documented rules are MUL ANS (mean reward 1.06),
// MUL ADD ANS (1.12) and MUL ADD SUB ANS (1.037, also with ADD and SUB swapped).
package arithmetic
