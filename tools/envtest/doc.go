// Package envtest is the contract of environments as a test: [Run] puts every
// promise of [tools.Env], [tools.Spec], [tools.Speaker] and [tools.Enumerator]
// to the proof, at every level under every rule set.
//
//	func TestContract(t *testing.T) { envtest.Run(t, arithmetic.Spec()) }
//
// What is checked, one subtest each: names and schemas; tasks and their ids;
// refusals; steps before the first reset and after the end; a second reset;
// the same bytes for the same calls; calls that are invalid, hostile or
// unknown; that every advertised tool can be called; the limit; the oracle;
// speech; the enumerator; and episodes played at the same time.
//
// Tests of one environment may also use [Solved], a task as its oracle plays it;
// [Small], which bounds what a live episode keeps; [Gated], behind which players
// wait; and [Beside], by which a benchmark reports a peer in Python.
//
// The checks know nothing about what an environment is about. They play it
// with the random agent of tools/baseline and with its own oracle. The
// package's own test runs them against environments that break one promise
// each, and wants the right check to fail.
package envtest
