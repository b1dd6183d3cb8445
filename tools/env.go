package tools

import (
	"context"
	"encoding/json"
	"fmt"
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

// An Enumerator lets package policy train on an environment: it encodes a task as
// tokens, plays tokens on the bare state machine, and translates a plan into calls.
// It plays one task at a time and is used by one goroutine.
type Enumerator interface {
	// Vocabulary describes the tokens of contexts and plans. It is constant.
	Vocabulary() Vocabulary
	// Token returns the text of a token, such as 7, [MUL] or move_up.
	Token(token int) string
	// Context appends the encoding of the task that Start began to buf.
	Context(buf []int) []int
	// Limit is the number of tokens after which Start's task is over.
	Limit() int
	// Start begins the task of a seed.
	Start(rules, level string, seed uint64) error
	// Act plays one token and returns the reward and whether the episode is over.
	Act(token int) (reward float64, done bool)
	// Success reports whether the task that Start began is solved.
	Success() bool
	// HasShortcut reports whether the task can be solved by a shorter plan than
	// the one its level teaches; training may leave such tasks out.
	HasShortcut() bool
	// Calls translates a plan for the task into tool calls.
	Calls(task Task, plan []int) ([]Call, error)
}

// TokenTexts returns the texts of tokens.
func TokenTexts(env Enumerator, tokens []int) []string {
	texts := make([]string, len(tokens))
	for i, token := range tokens {
		texts[i] = env.Token(token)
	}
	return texts
}

// A Vocabulary describes the tokens of an [Enumerator], which are the numbers 0 to
// Size−1.
type Vocabulary struct {
	Size      int `json:"size"`
	Start     int `json:"start"`      // ends a context, and is the first input of a plan
	End       int `json:"end"`        // ends a plan
	FirstTool int `json:"first_tool"` // tool calls are the tokens FirstTool to LastTool
	LastTool  int `json:"last_tool"`
}

// IsCall reports whether a token is a tool call.
func (v Vocabulary) IsCall(token int) bool { return v.FirstTool <= token && token <= v.LastTool }

// Validate returns an [*Error] that names a field out of range.
func (v Vocabulary) Validate() error {
	const largest = 1 << 16
	if v.Size < 1 || v.Size > largest {
		return &Error{Code: Invalid, Where: "size", Message: fmt.Sprintf("%d tokens", v.Size), Want: fmt.Sprintf("1 to %d", largest)}
	}
	for _, field := range []struct {
		name         string
		value, least int
	}{{"start", v.Start, 0}, {"end", v.End, 0}, {"first_tool", v.FirstTool, 0}, {"last_tool", v.LastTool, v.FirstTool}} {
		if field.value < field.least || field.value >= v.Size {
			return &Error{Code: Invalid, Where: field.name, Message: fmt.Sprintf("token %d", field.value), Want: fmt.Sprintf("%d to %d", field.least, v.Size-1)}
		}
	}
	return nil
}
