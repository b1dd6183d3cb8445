package main

import (
	"context"
	"encoding/json"
	"strings"

	"toolgym/tools"
)

// narrated prints what an agent does while it does it.
type narrated struct {
	agent tools.Agent
	env   tools.Env
	world *console
}

func (n narrated) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	for _, message := range task.Prompt {
		if err := n.world.printf("%s: %s\n", message.Role, message.Content); err != nil {
			return err
		}
	}
	if err := n.draw(); err != nil {
		return err
	}
	return n.agent.Play(ctx, task, observation, narrator{n, caller})
}

// draw shows an environment that can draw itself.
func (n narrated) draw() error {
	if drawn, ok := n.env.(interface{ Text() string }); ok {
		return n.world.printf("%s\n", strings.TrimRight(drawn.Text(), "\n"))
	}
	return nil
}

type narrator struct {
	narrated
	tools.Caller
}

func (n narrator) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	step, err := n.Caller.Step(ctx, call)
	if err != nil {
		return step, err
	}
	if err := n.world.printf("%s %s → %s  reward %.2f\n", call.Name, call.Arguments, step.Result.Content, step.Reward); err != nil {
		return step, err
	}
	return step, n.draw()
}

func (n narrator) Say(ctx context.Context, text string) (tools.Step, error) {
	speaker, ok := n.Caller.(tools.Speaker)
	if !ok {
		return tools.Step{}, &tools.Error{Code: tools.Conflict, Message: "this environment accepts only tool calls", Want: "a tool call"}
	}
	if err := n.world.printf("assistant: %s\n", text); err != nil {
		return tools.Step{}, err
	}
	return speaker.Say(ctx, text)
}
