package eval

import (
	"context"
	"encoding/json"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// question is the environment of an item of the user's own: whatever the agent
// does first ends it. Its tools are declared and have no handlers, so that
// nothing is run; right or wrong is the grader's to say, and Success never
// claims it.
type question struct {
	set    tools.Set
	task   tools.Task
	asked  bool
	ending bool
}

var _ interface {
	tools.Env
	tools.Speaker
} = (*question)(nil)

func (q *question) Tools() tools.Set { return q.set }

func (q *question) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if task.ID != q.task.ID {
		return nil, refusal.New("task", q.task.ID, "another question's task %s", task.ID)
	}
	q.asked, q.ending = true, false
	return json.RawMessage(`{}`), nil
}

func (q *question) Step(_ context.Context, call tools.Call) (tools.Step, error) {
	if err := q.end(); err != nil {
		return tools.Step{}, err
	}
	return tools.Termination(call, tools.Result{Content: json.RawMessage(`{"noted":true}`)}, 0), nil
}

func (q *question) Say(_ context.Context, text string) (tools.Step, error) {
	if err := q.end(); err != nil {
		return tools.Step{}, err
	}
	return tools.Termination(tools.Call{}, tools.Result{}, 0).Spoken(text), nil
}

func (q *question) end() error {
	if !q.asked || q.ending {
		return &tools.Error{Code: tools.Conflict, Message: "the question is not open", Want: "a reset first"}
	}
	q.ending = true
	return nil
}

func (q *question) Success() bool { return false }
