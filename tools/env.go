package tools

import (
	"context"
	"encoding/json"
)

// A Caller is what an agent may do: see the tools and call one.
type Caller interface {
	// Tools lists the tools of the running task in their fixed order.
	Tools() Set
	// Step makes one call. The agent's own mistake is an error result within
	// the Step. A call before the first Reset or after the end is an [*Error]
	// with code Conflict, and changes nothing.
	Step(ctx context.Context, call Call) (Step, error)
}

// An Env is a state machine whose actions are tools. The same task and the
// same calls give the same bytes. A call that is invalid against its tool's
// schema changes no state, but spends a step. An Env is used by one goroutine
// at a time.
type Env interface {
	Caller
	// Reset starts a task, at any time, and returns what is observed first, a
	// JSON object. A task of another environment is an [*Error], code Invalid.
	Reset(ctx context.Context, task Task) (json.RawMessage, error)
	// Success reports whether the present state solves the task.
	Success() bool
}

// A Speaker is an Env, or a Caller, that also takes what the agent says in a
// message without calls.
type Speaker interface {
	Say(ctx context.Context, text string) (Step, error)
}

// An Agent plays one episode. It is given the task, what is observed first and
// a Caller, and returns when a step is Done or when it gives up. An error means
// that something outside of the task failed.
type Agent interface {
	Play(ctx context.Context, task Task, observation json.RawMessage, caller Caller) error
}

// An Enumerator lets the policy of package policy be trained on an environment:
// it encodes a task as tokens, plays tokens on the bare state machine, and
// translates a plan into calls. Tokens are the 18 of package arithmetic: digits
// are 0 to 9, the six actions are 11 to 16, and 17 ends the episode. An
// Enumerator plays one task at a time and is used by one goroutine.
type Enumerator interface {
	// Context encodes the task that Start began, appended to buf.
	Context(buf []int) []int
	// Limit is the number of tokens after which Start's task is over.
	Limit() int
	// Start begins the task of a seed.
	Start(rules, level string, seed uint64) error
	// Act plays one token: the reward, and whether the episode is over.
	Act(token int) (reward float64, done bool)
	// Success reports whether the task that Start began is solved.
	Success() bool
	// Accidental reports whether the task can be solved by a shorter plan than
	// the one its level teaches; training may leave such tasks out.
	Accidental() bool
	// Calls translates a plan for the task into tool calls.
	Calls(task Task, plan []int) ([]Call, error)
}
