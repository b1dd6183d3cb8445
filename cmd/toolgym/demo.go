package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/grpo"
	"toolgym/internal/goroutine"
	"toolgym/tools"
)

type demoCommand struct {
	Seed   uint64 `help:"Seed of tasks and agents." default:"1"`
	Ollama string `help:"Let a model of this Ollama server take part; needs --model." placeholder:"URL"`
	Model  string `help:"The model." placeholder:"M"`
	Stay   bool   `help:"Keep serving afterwards, until Ctrl-C."`
	JSON   bool   `help:"Print JSON: a line an agent, then the metrics."`
}

func (c demoCommand) Run(ctx context.Context, world *console) (err error) {
	field, err := c.contestants(ctx)
	if err != nil {
		return err
	}
	lesson, err := learn(ctx, world.specs, c.Seed)
	if err != nil {
		return err
	}
	pupil, err := lesson.contestant(world.specs)
	if err != nil {
		return err
	}
	field = slices.Insert(field, 1, pupil)
	address, stop, err := serveBeside(ctx, world.specs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := c.compete(ctx, world, field, address); err != nil {
		return err
	}
	if err := c.note(world, "\n%s\n\n", lesson.curve()); err != nil {
		return err
	}
	if !c.Stay {
		return c.note(world, "The page was at %s/; toolgym serve keeps one up.\n", address)
	}
	if err := c.note(world, "The page is at %s/ until Ctrl-C.\n", address); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// serveBeside serves the environments on a free port until stop is called, which
// waits for the server's end.
func serveBeside(ctx context.Context, specs tools.Specs) (address string, stop func() error, err error) {
	server, err := api.New(api.Config{Specs: specs, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", nil, err
	}
	listener, err := listen(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return "", nil, err
	}
	serving, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	var running sync.WaitGroup
	goroutine.Go(&running, func() { served <- serveUntil(serving, server, listener) }, func(err error) { served <- err })
	return "http://" + listener.Addr().String(), func() error {
		cancel()
		running.Wait()
		return <-served
	}, nil
}

// note prints a line for people, which --json leaves out.
func (c demoCommand) note(world *console, format string, args ...any) error {
	if c.JSON {
		return nil
	}
	return world.printf(format, args...)
}

// compete plays the tasks through the REST API, scores the groups and prints
// who did how well.
func (c demoCommand) compete(ctx context.Context, world *console, field []contestant, address string) error {
	caller, err := client.New(client.Config{URL: address})
	if err != nil {
		return err
	}
	defer caller.Close()
	request, err := c.play(ctx, world.specs, field, caller)
	if err != nil {
		return err
	}
	scorer, err := grpo.NewScorer(world.specs, grpo.DefaultRubric())
	if err != nil {
		return err
	}
	response, err := scorer.Score(ctx, request)
	if err != nil {
		return err
	}
	return c.print(world, standings(field, response), response.Metrics)
}

// play gathers one group a task, with members completions of each contestant
// in the contestants' order.
func (c demoCommand) play(ctx context.Context, specs tools.Specs, field []contestant, caller *client.Client) (grpo.Request, error) {
	var request grpo.Request
	for _, id := range c.taskIDs() {
		spec, task, err := specs.Task(id)
		if err != nil {
			return request, err
		}
		group := grpo.Group{ID: task.ID, TaskID: task.ID}
		for _, contestant := range field {
			for member := range uint64(members) {
				completion, err := contestant.enter(spec, c.Seed+member).play(ctx, caller, task)
				if err != nil {
					return request, fmt.Errorf("%s plays %s: %w", contestant.name, task.ID, err)
				}
				group.Completions = append(group.Completions, completion)
			}
		}
		request.Groups = append(request.Groups, group)
	}
	return request, nil
}

// taskIDs are the tasks of the demo: three stages of arithmetic and two levels
// of the gridworld.
func (c demoCommand) taskIDs() []string {
	var ids []string
	for _, level := range []string{"arithmetic/0", "arithmetic/1", "arithmetic/2", "gridworld/0", "gridworld/1"} {
		for i := range uint64(3) {
			ids = append(ids, fmt.Sprintf("%s/%d", level, c.Seed+i))
		}
	}
	return ids
}
