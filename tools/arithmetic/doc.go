// Package arithmetic is an environment of small computations: token machines for
// the policy, and JSON-schema tools for language models, over the same tasks.
//
// # Tasks
//
// A [Problem] is drawn from a seed by [Draw]: five operands from 0 to 9, and at
// stages 3 and 4 the operators, each of × + − with equal probability.
//
//	stage  computes                 context            plan
//	0      a*b + c                  a b c              MUL ADD ANS
//	1      (a*b + c) - d            a b c d            MUL ADD SUB ANS
//	2      (a*b + c) - (d*e)        a b c d e          MUL ADD STO MUL RCL SUB ANS
//	3      (a ∘ b) ∘ c              a ∘ b ∘ c          ∘ ∘ ANS
//	4      ((a ∘ b) ∘ c) ∘ (d ∘ e)  a ∘ b ∘ c ∘ d ∘ e  ∘₁ ∘₂ STO ∘₄ RCL ∘₃ ANS
//
// The levels "0" to "4" are the stages. Three more levels are for language models
// only: "large" is stage 2 with operands up to a million; "grounded" is stage 1
// with letters, whose values the tool lookup returns; "restraint" is a greeting, a
// thank-you or a question about the assistant, which needs no tool. The documented
// rules have the levels 0 to 2.
//
// # Machines
//
// [NewSound] and [NewDocumented] return a machine for a problem. A machine is a
// plain value: Step does not allocate, and a copy is an independent episode.
//
//	p := arithmetic.Draw(arithmetic.Seeded(17), 2)
//	m := arithmetic.NewSound(p)
//	gain, done := m.Step(arithmetic.Mul)
//
// The sound machine has a tape of operands and the registers acc, left and mem. An
// operator combines left and acc, or acc and the next operand, or the next two
// operands; store moves acc to mem; recall copies mem to left, or to acc if that is
// empty. A digit, [CTX] and a tool without the values that it needs are invalid:
// they take a step and change nothing else. [EOS] ends the episode without an
// answer. The reward is 1 for a correct answer plus up to 0.5 for the milestones
// reached in order, so that a plan which misses the target gets less than 0.5. Step
// returns the increase of the reward, for trainers that use rewards per step.
//
// A problem has a shortcut ([Problem.HasShortcut]) if its operands have a shorter
// plan than any that works for all operands (c = 0, or d·e = d). A policy that is
// trained on such tasks learns the short plans. Leave them out of training, but not
// of evaluation.
//
// [NewEnumerator] offers both machines to the policy.
//
// # Tools
//
// [Spec] describes the environment with typed tools: multiply, add, subtract,
// divide, store, recall, answer and calculator, in this order. Arithmetic is exact:
// 0.1+0.2 is 0.3, integers keep every digit, and a quotient with an infinite decimal
// expansion is rounded half to even at 12 significant digits, as is a fraction with
// more than 1,000 decimals. Numerator and denominator have at most 4,096 bits.
//
// An episode has at most 16 steps. Its reward is 1 if the value passed to answer is
// correct. A message without calls takes a step and changes nothing, except at level
// restraint: there it ends the episode, and solves the task if it has visible text,
// while a call ends the episode unsolved.
//
// The oracle solves every task with the tools. Task.Optimal is set under the
// documented rules only: with typed tools a model may compute in its head and
// answer at once.
//
// # The documented rules and their defects
//
// The documented rules are those of a published tutorial; testdata has its episodes.
// Each defect was measured or is shown by a test of this package. The sound rules or
// package policy correct it.
//
//  1. The rewarded target is one sub-goal before the described one: stage 0 rewards
//     a*b, stage 1 a*b+c, stage 2 (a*b+c)-d. Corrected: the target is the described
//     one.
//  2. At stage 2 no fixed plan reaches the described target: store keeps no value,
//     and nothing subtracts d*e, except by coincidence of the operands. Corrected:
//     mem and left hold values, and operators use them.
//  3. The network's context is averaged over the whole batch because of a
//     broadcasting error, so that no sample sees its own numbers. Corrected by the
//     pools of package policy.
//  4. The mean over the context's embeddings loses the order of the operands.
//     Corrected by the pool "ordered".
//  5. The value printed as accuracy is the mean reward, hence values above 1.
//     Corrected: success, 0 or 1, is reported separately from the reward.
//  6. Tokens after the answer still have gradients. Corrected: a step after the end
//     changes nothing and returns no reward, and the policy masks it.
//  7. Stages are trained one after another, and earlier ones are forgotten: ten
//     seeds of the published run end with greedy rewards of at most 1.06, 0.00 and
//     0.18. Corrected by the curriculum "mastery" of package policy/train.
//
// The best fixed plans of the documented rules are MUL ANS (mean reward 1.06),
// MUL ADD ANS (1.12) and MUL ADD SUB ANS (1.037, also with ADD and SUB swapped).
package arithmetic
