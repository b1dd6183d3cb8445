// Package intake reads what is sent to be read: the body of POST /v1/parse,
// which is a line of toolgym parse --jsonl as well. The server and the command
// line use it alike, so that the same bytes get the same answer from both.
//
// A [Desk] remembers the tool lists that it has seen by their bytes: the lines
// of a file, and the requests of a trainer, declare the same few tools again
// and again, and compiling their schemas takes longer than reading what the
// model wrote. It is bounded, and safe for concurrent use.
//
// Reading is strict: one JSON object, no key twice, no unknown field, no value
// of another type. What stands inside of a model's own message is the model's
// and its server's affair. An error is a [*tools.Error] with a JSON pointer.
package intake
