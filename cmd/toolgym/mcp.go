package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"

	"toolgym/api"
)

type mcpCommand struct {
	Env   string `help:"Environment." default:"arithmetic"`
	Level string `help:"Level (default: the environment's first)."`
	Seed  uint64 `help:"Seed of the task."`

	Skills string `help:"Skill library to offer as tools." placeholder:"FILE"`
}

// Run plays one episode with the client at stdin and stdout. It
// is kept in memory: desktop clients start one such process for each window.
func (c mcpCommand) Run(ctx context.Context, world *console) (err error) {
	spec, err := world.specs.Lookup(c.Env)
	if err != nil {
		return err
	}
	library, err := learntSkills(c.Skills)
	if err != nil {
		return err
	}
	server, err := api.New(api.Config{Specs: world.specs, Skills: library, Logger: world.log, Version: version()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Shutdown(context.WithoutCancel(ctx))) }()
	task := c.Env + "/" + cmp.Or(c.Level, spec.Levels[0]) + "/" + strconv.FormatUint(c.Seed, 10)
	return server.ServeMCP(ctx, task, io.NopCloser(world.in), unclosed{world.out})
}

// unclosed is a writer that stays open: stdout is not ours to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
