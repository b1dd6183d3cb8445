// Package calculator computes arithmetic expressions exactly. Environments offer it to
// language models as a tool.
//
// [Tool] returns the tool, and [Evaluate] is its function. Values are rational numbers:
// 0.1+0.2 is 0.3, integers keep every digit, and only the result is rounded ([Decimal])
// if its decimal expansion is infinite, so that 85/6 is 14.1666666667. The limits (512
// characters, 64 levels of nesting, literals of 64 digits, 4,096 bits for numerator and
// denominator) make it cheap to reject 9^9^9 or a hundred thousand brackets.
//
// [Exact], [Bounded], [Divide] and [Decimal] are the same arithmetic for tools with
// numbers as arguments. Errors of the agent are made by [tools.Mistakef].
package calculator
