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

// maxCalls is the maximum number of steps of an episode.
const maxCalls = 16

type env struct {
	turns episode.Turns
	asked question
	found []report   // reports whose prices a search returned
	seen  []*big.Rat // numbers that searches returned
	right bool
}

var (
	_ tools.Env     = (*env)(nil)
	_ tools.Speaker = (*env)(nil)
)

func (e *env) Tools() tools.Set { return declared() }

func (e *env) Success() bool { return e.right }

// Reset starts the episode of a task. A task of another environment is an error,
// which does not affect the running episode.
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
	e.turns.Begin(maxCalls)
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

// search returns a search result and records the report and its numbers.
func (e *env) search(_ context.Context, in query) (json.RawMessage, error) {
	r, err := in.report()
	if err != nil {
		return nil, err
	}
	page, err := json.Marshal(describe(&r, in.Topic, e.asked.level == detailed))
	if err != nil {
		return nil, fmt.Errorf("encoding a search result: %w", err)
	}
	value, err := strictjson.Decode(page)
	if err != nil {
		return nil, fmt.Errorf("decoding a search result: %w", err)
	}
	e.seen = append(e.seen, numbersIn(value)...)
	if in.Topic == sharePrice {
		e.found = append(e.found, r)
	}
	return page, nil
}

// numbersIn returns the numbers of a JSON value.
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

// Say handles the answer and ends the episode.
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

// grounded reports whether searches returned the prices of every report of the
// question. Without them the answer can only be a guess.
func (e *env) grounded() bool {
	for _, asked := range e.asked.reports {
		same := func(r report) bool { return r.company == asked.company && r.quarter == asked.quarter }
		if !slices.ContainsFunc(e.found, same) {
			return false
		}
	}
	return true
}
