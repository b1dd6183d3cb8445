package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

func main() {
	server, err := api.New(api.Config{Specs: tools.Specs{spec(), arithmetic.Spec()}})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.ListenAndServe("127.0.0.1:8080"))
}

func spec() tools.Spec {
	guess := tools.New[number, hint]("guess", "Guesses the number.", nil)
	return tools.Spec{
		Name: "guessing", Description: "Find a number from 0 to 99.", Rules: []string{tools.Sound}, Levels: []string{"0"},
		Tools: func(_, _ string) tools.Set { return tools.Set{guess} },
		NewTask: func(rules, level string, _ uint64) (tools.Task, error) {
			prompt := tools.Message{Role: "user", Content: "I think of a number from 0 to 99. You have 7 guesses."}
			return tools.Task{Prompt: []tools.Message{prompt}}, ours("guessing", rules, level)
		},
		New: func() tools.Env { g := &game{}; g.tool = tools.Bind(guess, g.guess); return g },
	}
}

func ours(env, rules, level string) error {
	if env != "guessing" || rules != tools.Sound || level != "0" {
		return &tools.Error{Code: tools.Invalid, Message: "no such task", Want: "guessing/0/SEED"}
	}
	return nil
}

type number struct {
	Number int `json:"number" jsonschema:"minimum=0,maximum=99"`
}

type hint map[string]string

// game is the state machine.
type game struct {
	tool         tools.Tool
	secret, left int
	found        bool
}

func (g *game) guess(_ context.Context, in number) (hint, error) {
	g.found = in.Number == g.secret
	return hint{"hint": []string{"higher", "right", "lower"}[1+cmp.Compare(in.Number, g.secret)]}, nil
}

func (g *game) Tools() tools.Set { return tools.Set{g.tool} }
func (g *game) Success() bool    { return g.found }
func (g *game) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	g.secret, g.left, g.found = int(task.Seed*2654435761%100), 7, false
	return json.RawMessage(`{}`), ours(task.Env, task.Rules, task.Level)
}

func (g *game) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if g.found || g.left == 0 {
		return tools.Step{}, &tools.Error{Code: tools.Conflict, Message: "the game is over"}
	}
	result, err := g.Tools().Call(ctx, call)
	if g.left--; err != nil || g.found {
		return tools.Termination(call, result, 1), err
	}
	if g.left == 0 {
		return tools.Truncation(call, result, 0), nil
	}
	return tools.Transition(call, result, 0), nil
}
