// Package tools is the vocabulary of the gym: what an environment, a tool, a
// call and a step are. Every other room of the house speaks these words.
//
// # Tools
//
// A [Tool] is a name, a description, a JSON Schema of its arguments and a
// handler. [New] derives the schema from a Go type:
//
//	type Operands struct {
//		A json.Number `json:"a" jsonschema:"description=The left operand."`
//		B json.Number `json:"b" jsonschema:"description=The right operand."`
//	}
//	add := tools.New("add", "Adds two numbers.", func(ctx context.Context, in Operands) (Sum, error) { … })
//
// The schema is closed (additionalProperties is false), draft 2020-12, and its
// bytes are the same wherever the tool is shown: REST, MCP, Ollama,
// langchaingo. Arguments are decoded once, strictly and with exact numbers,
// and checked against the whole schema before the handler runs. A field of
// type [json.Number] keeps the digits as they were written; an integer field
// takes every number that is an integer by value (1.0 and 1e3 are).
//
// A tool that acts on the state of an environment is declared once, with a nil
// handler, and bound to each environment's state by [Bind], which costs no
// second compilation. [Declare] makes a tool from a schema that came from
// somewhere else.
//
// # Bounds of schemas
//
// Schemas come from callers, and a few bytes of one can ask for any amount of
// time and memory. [Declare] refuses, as a mistake of the caller's, a schema with
// more than
//
//   - 1 MiB, 60,000 JSON values, 128 levels of nesting, or numbers beyond 1,000
//     digits or exponents beyond ±1,000,
//   - 8,000 objects and booleans, 1,000 different references, 200 identifiers and
//     anchors, 10,000 values in lists of enum,
//   - 20,000 instructions in the programs of all its patterns, or a pattern of
//     more than 8 KiB,
//   - 50,000 subschemas once references are expanded (one that encloses itself
//     counts once), or 200 that apply to one value, each because of the one before,
//
// and a list of tools ([Set.UnmarshalJSON]) with more than 1,024 tools or a
// weight of more than 50,000 ([Tool.Weight]). Schemas made from OpenAPI documents
// of 100 kB, and those of MCP servers, are far within these.
//
// What the validator would do is counted before it is called, in steps of about
// 1 µs and 250 bytes; the same schema and value take the same number. Arguments
// that take more than [MaxSteps] are not validated. That is a bound of this
// program and not a mistake of the model's, so that a grader reports a failure of
// the harness, with the reason and without a reward; an agent that acts gets an
// error result, and can send less. At most 100 violations are reported, and
// messages quote the first of what they list.
//
// # Environments
//
// An [Env] is a state machine: [Env.Reset] starts a [Task], Step takes a [Call]
// and answers with a [Step]. The same task and the same calls give the same
// bytes, on any machine. A [Spec] describes a kind of environment: its rules,
// its levels, how to make a task and how to make an Env. A task is named by
// its id, env/level/seed, with @documented behind it under the documented
// rules; [Specs] finds a task by that id.
//
// An [Agent] is given a [Caller] and not the Env, so that it can step but not
// start again. [Rollout] lets an agent play a task and keeps the [Trajectory].
// Some environments judge what an agent says as well as what it calls; they
// implement [Speaker].
//
// # Errors
//
// Three kinds are kept apart. The agent's own mistake (an unknown tool, bad
// arguments, a division by zero) is a [Result] with IsError set, and the
// episode goes on; a handler reports it with [Mistakef]. The caller's mistake
// is an [*Error] with a code. Everything else is an ordinary wrapped error and
// is never shown to a client.
package tools
