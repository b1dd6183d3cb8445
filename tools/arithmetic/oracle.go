package arithmetic

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// oracle solves every task with the tools that are meant for it.
type oracle struct{}

var _ tools.Agent = oracle{}

func (oracle) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	if err := check(task.Rules, task.Level); err != nil {
		return err
	}
	if task.Level == restraint {
		speaker, ok := caller.(tools.Speaker)
		if !ok {
			return refusal.New("", "a caller that is a Speaker", "level restraint is solved by a message, which this caller does not take")
		}
		_, err := speaker.Say(ctx, "You're welcome! I'm an assistant that can compute for you whenever you need it.")
		return err
	}
	p := problemOf(task.Level, task.Seed)
	w := &worker{step: func(call tools.Call) (tools.Step, error) { return caller.Step(ctx, call) }}
	if task.Rules == tools.Documented {
		return w.recite(p.Stage)
	}
	return w.compute(p, task.Level == grounded)
}

// worker makes calls until one fails.
type worker struct {
	step func(tools.Call) (tools.Step, error)
	err  error
}

// recite plays the best fixed plan of the documented rules.
func (w *worker) recite(stage int) error {
	for _, tool := range append([]string{"multiply", "add", "subtract"}[:stage+1], "answer") {
		w.call(tool, "{}")
	}
	return w.err
}

// compute reads every value from the tools' results.
func (w *worker) compute(p Problem, lookUp bool) error {
	var v [5]string
	for i := range p.shape().operands {
		v[i] = strconv.Itoa(p.Operands[i])
		if lookUp {
			v[i] = w.call("lookup", fmt.Sprintf(`{"name":%q}`, letters()[i]))
		}
	}
	value := w.apply(p.Operators[0], v[0], v[1])
	value = w.apply(p.Operators[1], value, v[2])
	switch p.Stage {
	case 1:
		value = w.apply(p.Operators[2], value, v[3])
	case 2, 4:
		w.call("store", `{"value":`+value+`}`)
		right := w.apply(p.Operators[3], v[3], v[4])
		value = w.apply(p.Operators[2], w.call("recall", "{}"), right)
	}
	w.call("answer", `{"value":`+value+`}`)
	return w.err
}

func (w *worker) apply(operator int, a, b string) string {
	return w.call(toolName(operator), `{"a":`+a+`,"b":`+b+`}`)
}

// call makes a call and returns the result's number, if there is one.
func (w *worker) call(tool, arguments string) string {
	if w.err != nil {
		return ""
	}
	step, err := w.step(tools.Call{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		w.err = err
		return ""
	}
	if step.Result.IsError {
		w.err = fmt.Errorf("the oracle's call of %s failed: %s", tool, step.Result.Content)
		return ""
	}
	var answer result
	if err := json.Unmarshal(step.Result.Content, &answer); err != nil {
		w.err = fmt.Errorf("reading the result of %s: %w", tool, err)
	}
	return string(answer.Result)
}
