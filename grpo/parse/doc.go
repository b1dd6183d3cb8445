// Package parse reads tool calls out of what language models write.
//
// Serving layers lose, rename and repair calls, and a grader that trusts them
// grades the server. This package reads the model's own text (or a server's
// message, where there is nothing else), strictly, and reports for everything that
// it finds how well it is written and why.
//
// # Use
//
//	reader := parse.NewReader(set) // once for each set of declared tools
//	text := completion
//	reading, err := reader.Read(parse.Input{Text: &text, Family: parse.Hermes, FinishReason: "stop"})
//
// The error speaks of the input (an unknown family, a message that is no JSON).
// Whatever the model wrote gives a [Reading]: its calls, its attempts, its tier,
// its visible content, its reasoning, its defects. [Request] is the same with
// the tools inside: the body of POST /v1/parse.
//
// # The order of the work
//
//  1. Tokens that end a turn are cut off.
//  2. The text is read once, from left to right, and what starts first decides:
//     a block of reasoning is cut out, an opener of the family starts an attempt,
//     a fence of code with prose around it is documentation, a tool result that
//     the model wrote itself ends the reading. A marker inside a payload is part
//     of the payload: the end of JSON is found by decoding it.
//  3. Forms without markers count only where the content begins, and most of
//     them only when they are the whole content.
//  4. Payloads are decoded once by [strictjson], numbers exact. Values that
//     stand as text between tags are typed by the resolved schema of the argument.
//  5. Names are looked up exactly, and arguments are checked against the whole
//     schema. Nothing is coerced.
//
// # Families
//
// A [Family] is a way of writing calls; each has its own file, whose comment
// shows the native form, and a row in formOf. [Auto] takes the family of the
// first opener that starts an attempt; where several families share an opener,
// what follows it decides in a fixed order, and untagged forms come last.
// Under a declared family, an object with the name and arguments of a declared
// tool in another wrapper is an envelope fault; any other foreign form is an
// attempt that cannot count (unknown_envelope). Under auto, what looks like a
// call in no known form is format_not_recognised, counted apart, since it may
// be a blind spot of this package.
//
// # Tiers
//
// An attempt's [Tier] is the worst that its [Defect] values allow, and none
// when its [Status] is not ok. The completion's tier is answer without
// attempts, none when no attempt counts, otherwise the worst tier of those that
// count, and at least envelope when another attempt was lost or a tool result
// was made up. Only strict and answer are well formed.
//
// The rules are those of spec/grading.md, section 1; what was decided where it
// leaves room stands in grpo/POLICY.md, one line each (grpo.ReadingPolicy).
//
// # Bounds
//
// Time and memory are linear in the text. [Limits] bounds attempts and payloads.
// Reading a text has a budget of work, in bytes that are looked at, proportional
// to its size: what lies beyond is lost and says so ([DefectTooMuchWork]).
// [Reader.ReadInto] also ends with its context.
// Invalid UTF-8 breaks neither spans nor anything else; inside of arguments it
// loses the attempt. FUZZING.md says what was tried.
//
// # Structured messages
//
// tool_calls of a chat message (Ollama's objects, OpenAI's strings), chunks of
// a stream and error bodies are read as family [Structured]. Where structured
// calls exist the content is not scanned. An error that quotes a call which the
// server could not read is the model's malformed attempt; any other error, and
// an empty message for which tokens were generated, is a [Failure] that is not
// the model's. So is a completion whose arguments take more steps to be checked
// than there are ([Limits]): it has a failure of kind harness, and nothing is
// said about whether its calls keep their schema.
package parse
