// Package arithmetic is the gym's arithmetic environment: bare machines for the
// policy, and typed tools over the same tasks for language models.
//
// # Machines
//
// A [Problem] is drawn from a seed by [Draw]. [NewSound] and [NewDocumented] set
// up a machine for it, a plain value whose Step plays one of the 18 tokens and
// allocates nothing. [NewEnumerator] offers both to the policy.
package arithmetic
