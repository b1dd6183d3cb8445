// Package envtest tests whether an environment keeps the contract of
// [tools.Env], [tools.Spec], [tools.Speaker] and [tools.Enumerator]:
//
//	func TestContract(t *testing.T) { envtest.Run(t, spec()) }
//
// README.md shows a complete environment with its test.
//
// [Run] has one subtest per requirement: names and schemas; tasks and their ids;
// unknown rules and levels; tasks of other environments; steps before the first
// reset and after the end; repeated resets; determinism; calls of every tool;
// invalid calls and malicious arguments; the step limit; the oracle; messages; the
// enumerator; and interleaved and concurrent episodes. All levels under all rule
// sets are tested, most requirements with five seeds.
//
// The checks need to know nothing about the tasks of an environment. They play it
// with [toolgym/tools/baseline.Random], with invalid calls and with its own
// oracle. What is optional in a Spec (Oracle, Enumerate) or an Env (Say) is tested
// if it is there. The reward is tested for determinism only, and a check cannot
// tell whether a task makes sense: write tests for both.
package envtest
