package research

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"toolgym/internal/episode"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// mostCalls is the limit of an episode.
const mostCalls = 16

type env struct {
	turns episode.Turns
	asked question
	found []report   // whose prices were looked up
	seen  []*big.Rat // the numbers that searches returned
	right bool
}

var (
	_ tools.Env     = (*env)(nil)
	_ tools.Speaker = (*env)(nil)
)

func (e *env) Tools() tools.Set { return declared() }

func (e *env) Success() bool { return e.right }

// Reset refuses a task that is not this environment's, and then leaves the
// running episode as it is.
func (e *env) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if err := episode.CheckEnv(name, task); err != nil {
		return nil, err
	}
	if err := check(task.Rules, task.Level); err != nil {
		return nil, err
	}
	asked := draw(task.Level, task.Seed)
	observation, err := json.Marshal(struct {
		Question string `json:"question"`
	}{asked.text()})
	if err != nil {
		return nil, fmt.Errorf("encoding the observation: %w", err)
	}
	*e = env{asked: asked}
	e.turns.Begin(mostCalls)
	return observation, nil
}

func (e *env) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if err := e.turns.CheckRunning(); err != nil {
		return tools.Step{}, err
	}
	set := slices.Clone(declared())
	set[0] = tools.Bind(set[0], e.search)
	result, err := set.Call(ctx, call)
	if err != nil {
		return tools.Step{}, fmt.Errorf("calling %s: %w", call.Name, err)
	}
	return e.turns.Step(call, result, 0, false), nil
}

// search looks a report up and remembers what was seen.
func (e *env) search(_ context.Context, in query) (json.RawMessage, error) {
	r, err := in.report()
	if err != nil {
		return nil, err
	}
	page, err := json.Marshal(describe(&r, in.Topic, e.asked.level == noisy))
	if err != nil {
		return nil, fmt.Errorf("encoding a finding: %w", err)
	}
	value, err := strictjson.Decode(page)
	if err != nil {
		return nil, fmt.Errorf("reading a finding: %w", err)
	}
	e.seen = append(e.seen, numbersIn(value)...)
	if in.Topic == sharePrice {
		e.found = append(e.found, r)
	}
	return page, nil
}

// numbersIn lists the numbers of a JSON value.
func numbersIn(value any) (found []*big.Rat) {
	switch v := value.(type) {
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok {
			found = append(found, r)
		}
	case []any:
		for _, item := range v {
			found = append(found, numbersIn(item)...)
		}
	case map[string]any:
		for _, item := range v {
			found = append(found, numbersIn(item)...)
		}
	}
	return found
}

// Say takes the answer and ends the episode.
func (e *env) Say(_ context.Context, text string) (tools.Step, error) {
	if err := e.turns.CheckRunning(); err != nil {
		return tools.Step{}, err
	}
	e.right = e.grounded() && e.asked.answeredBy(text, e.seen)
	reward := 0.0
	if e.right {
		reward = 1
	}
	return e.turns.Step(tools.Call{}, tools.Result{}, reward, true).Spoken(text), nil
}

// grounded reports whether the prices of every report that the task asks about
// were looked up. The answer then follows from them by the formula; what was
// not looked up can only be a guess.
func (e *env) grounded() bool {
	for _, asked := range e.asked.reports {
		same := func(r report) bool { return r.company == asked.company && r.quarter == asked.quarter }
		if !slices.ContainsFunc(e.found, same) {
			return false
		}
	}
	return true
}
