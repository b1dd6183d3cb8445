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
