// Package calculator computes arithmetic expressions exactly. It is the
// calculator that the gym's environments offer to language models.
//
// [Tool] makes the tool, and [Evaluate] is the function behind it. Everything is
// a rational number until it is written: 0.1+0.2 is 0.3, integers keep every
// digit, and a quotient whose decimals do not end is rounded half to even at 12
// significant digits, so that 85/6 is 14.1666666667. The limits (512 characters,
// 64 levels, literals of 64 digits, 4,096 bits for numerator and denominator)
// make 9^9^9 and a hundred thousand brackets cheap to refuse.
//
// [Exact], [Bounded], [Divide] and [Decimal] are the same arithmetic for tools
// that take their operands as arguments. What the agent got wrong is an error
// made by [tools.Mistakef].
package calculator
