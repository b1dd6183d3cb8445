// Package strictjson reads JSON the way a grader and an executor must both
// read it: one value, one meaning, or an error that says where and why.
//
// # What is read
//
// [Decode] reads exactly one value of RFC 8259 into
//
//	map[string]any, []any, string, json.Number (the exact text), bool, nil
//
// and refuses what decoders disagree about or silently change:
//
//   - duplicate keys (first wins, last wins, both happen in the field),
//   - NaN and Infinity (no JSON value is faithful to them),
//   - lone surrogates and invalid UTF-8 (others put U+FFFD there),
//   - anything but blanks after the value,
//   - more than the [Limits]: nesting, number of values, bytes, length and
//     exponent of a number.
//
// Every error is an [*Error] with a [Kind], a byte offset and a message.
//
// # Reading inside a text
//
// [Limits.Prefix] reads one value at the start of a text and says where it
// ends. That is how the end of a payload is found when the payload is followed
// by a closing tag: a search for the tag would stop inside a string that
// quotes it. [Limits.Object] does the same for an object and keeps its members
// in order with their byte spans, so that arguments can be handed on untouched.
//
// # Mending
//
// [Limits.Mend] reads an object that is misspelt in one of the few ways that
// leave no doubt about what was meant ([Mends]): a comma before a closing
// bracket, Python's quotes and literals, a raw control character in a string, a
// lone surrogate. Everything else (missing braces, bad escapes, unescaped
// quotes, NaN, duplicate keys) stays an error: repairing it would be guessing.
// [Limits.Literal] reads a Python or JSON literal where that is the native
// form; nothing is ever evaluated.
//
// # Numbers
//
// [Integer] and [Equal] look at values, not at spellings: 1, 1.0 and 10e-1 are
// one number, 120.0 and 1e3 are integers. They work on the digits, so that
// 1e999999999 costs nothing. The same number as a big.Rat would fill the memory:
// bound it first.
//
// # Pointers
//
// [Pointer] and [Path] write and read JSON pointers, by which every mistake in a
// text is placed.
//
// # Cost
//
// Strings and numbers without escapes share the memory of the text; there is
// one pass, no reflection and no look-ahead. Time and memory are linear in the
// text.
package strictjson
