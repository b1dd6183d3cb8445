package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"toolgym/grpo/eval"
	formats "toolgym/grpo/eval/report"
	"toolgym/internal/evaluation"
	"toolgym/internal/refusal"
	"toolgym/internal/store"
)

type evalCommand struct {
	Model         string   `help:"Model, as the server names it."`
	Ollama        []string `help:"Address of an Ollama server; several share the work (default: http://127.0.0.1:11434)." placeholder:"URL" sep:"none"`
	OpenAI        string   `name:"openai" help:"Address of a server of the OpenAI form (llama.cpp, vLLM, LM Studio), without /v1." placeholder:"URL"`
	Env           []string `help:"Environment (default: arithmetic)." placeholder:"ENV"`
	Level         []string `help:"Level (default: 0, 1 and 2, as far as there are such)." placeholder:"LEVEL"`
	Rules         string   `help:"Rules: sound or documented." placeholder:"RULES"`
	Suite         string   `help:"JSONL file of questions of your own." placeholder:"FILE"`
	N             int      `short:"n" help:"Tasks of each level (default: 10)." placeholder:"TASKS"`
	Limit         int      `help:"Maximum number of tasks." placeholder:"N"`
	Trials        int      `help:"Trials of each task (default: 1)." placeholder:"T"`
	Seed          uint64   `help:"Seed of the first task of each level, and of sampling." placeholder:"S"`
	SampleSeed    *uint64  `help:"Seed of sampling alone, for other answers to the same tasks (default: --seed)." placeholder:"S"`
	Route         string   `help:"chat: the model as its server deploys it; raw: its own template and text, without the server's parsing; both; agent: no server, the model is idle, random or oracle (default: chat)." placeholder:"ROUTE"`
	Temperature   *float64 `help:"Temperature (default: the model's own)." placeholder:"X"`
	NumCtx        int      `help:"Context in tokens (default: 4096)." placeholder:"N"`
	NumPredict    int      `help:"Most tokens of one turn (default: the server's own limit)." placeholder:"N"`
	MaxTurns      int      `help:"Most turns of one trial (default: 20)." placeholder:"N"`
	Timeout       int      `help:"Most seconds of one turn (default: 300)." placeholder:"S"`
	MaxReplyBytes int      `help:"Most bytes of one reply of the server, after decompression (default: 4194304)." placeholder:"BYTES"`
	Concurrency   int      `help:"Trials at a time on each server (default: 1)." placeholder:"N"`
	RunName       string   `name:"run" help:"Name of the run (default: model and time)." placeholder:"NAME"`
	Resume        bool     `help:"Go on with the run of that name: only what is missing, or failed outside of the model, is played."`
	DryRun        bool     `help:"Play nothing: check the tasks, list what the server hides from the model, and print the prompts."`
	FailUnder     *float64 `help:"Exit with 1 when the success rate is below X, between 0 and 1." placeholder:"X"`
	JSON          bool     `help:"Print JSON: a line a trial, then the summary."`
}

// request is what the flags say. What they leave out stays zero.
func (c evalCommand) request() (evaluation.Request, error) {
	r := evaluation.Request{Run: c.RunName, Model: c.Model, Ollama: c.Ollama, OpenAI: c.OpenAI, Route: c.Route, Envs: c.Env, Levels: c.Level, Rules: c.Rules,
		N: c.N, Limit: c.Limit, Trials: c.Trials, Seed: c.Seed, Sample: c.SampleSeed, Temperature: c.Temperature, NumCtx: c.NumCtx, NumPredict: c.NumPredict,
		MaxTurns: c.MaxTurns, Timeout: c.Timeout, MaxReply: c.MaxReplyBytes, Concurrency: c.Concurrency, Resume: c.Resume}
	if c.Suite != "" {
		text, err := readUpTo(c.Suite, mostSuite)
		if err != nil {
			return r, refusal.New("--suite", "a readable JSONL file", "%v", err)
		}
		name := strings.TrimSuffix(filepath.Base(c.Suite), filepath.Ext(c.Suite))
		r.Suite = &evaluation.Suite{Name: name, Lines: string(text)}
	}
	r.Command = c.words()
	return r, nil
}

func (c evalCommand) Run(ctx context.Context, world *console) error {
	if c.FailUnder != nil && (*c.FailUnder < 0 || *c.FailUnder > 1) {
		return refusal.New("--fail-under", "a share between 0 and 1", "%v", *c.FailUnder)
	}
	request, err := c.request()
	if err != nil {
		return err
	}
	if c.DryRun {
		return asFlag(c.dryRun(ctx, world, request))
	}
	if err := world.evaluations(nil).Check(ctx, request); err != nil { // before there is a database
		return asFlag(err)
	}
	return world.withStore(ctx, func(room evaluation.Room) error { return asFlag(c.play(ctx, world, room, request)) })
}

// asFlag says in a caller's mistake which flag it is in, where it is in a field
// of the request.
func asFlag(err error) error {
	return refusal.Relocate(err, func(where string) string {
		switch where {
		case "n":
			return "-n"
		case "timeout_s":
			return "--timeout"
		case "model", "ollama", "openai", "route", "env", "level", "rules", "suite", "limit", "trials", "concurrency", "run", "num_ctx", "num_predict", "max_turns", "temperature", "max_reply_bytes":
			return "--" + strings.ReplaceAll(where, "_", "-")
		}
		return where
	})
}

// withStore opens the database for as long as do runs.
func (w *console) withStore(ctx context.Context, do func(evaluation.Room) error) (err error) {
	return w.within(ctx, w.dataDir, do)
}

// withKept is withStore for a command that begins nothing: a directory of --data
// that does not exist is not made, but refused.
func (w *console) withKept(ctx context.Context, do func(evaluation.Room) error) error {
	return w.within(ctx, w.keptDir, do)
}

func (w *console) within(ctx context.Context, directory func() (string, error), do func(evaluation.Room) error) (err error) {
	dir, err := directory()
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, filepath.Join(dir, "toolgym.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return do(w.evaluations(db))
}

// evaluations is where evaluations are made, and kept in a database.
func (w *console) evaluations(db *store.Store) evaluation.Room {
	return evaluation.Room{Specs: w.specs, Store: db, Now: time.Now, Logger: w.log}
}

func (c evalCommand) play(ctx context.Context, world *console, room evaluation.Room, request evaluation.Request) error {
	e, err := room.Open(ctx, request)
	if err != nil {
		return err
	}
	progress := newProgress(world.err, e, time.Now)
	var printing error
	err = e.Play(ctx, func(t eval.Trial) {
		progress.add(t)
		if c.JSON && printing == nil {
			printing = world.printJSON(t)
		}
	})
	progress.end()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("stopped with %d of %d trials kept; go on with %s", progress.kept(), e.Planned, world.goOn(e.Run.Name))
	}
	if err := errors.Join(err, printing); err != nil {
		return err
	}
	return c.finish(context.WithoutCancel(ctx), world, room, e.Run.Name)
}

// goOn is the command that goes on with a run.
func (w *console) goOn(run string) string {
	command := "toolgym eval --resume --run " + quote(run)
	if w.data != "" {
		command += " --data " + quote(w.data)
	}
	return command
}

// finish prints what the run found, and says by the exit code whether that is
// good enough.
func (c evalCommand) finish(ctx context.Context, world *console, room evaluation.Room, run string) error {
	summary, err := room.Summary(ctx, run)
	if err != nil {
		return err
	}
	if c.JSON {
		err = world.printJSON(map[string]eval.Summary{"summary": summary})
	} else {
		err = world.printReport(ctx, room, run, formats.Text)
	}
	switch {
	case err != nil:
		return err
	case summary.Success == nil && summary.InfrastructureExcluded > 0:
		return fmt.Errorf("the server failed in %d of %d trials; when it works, go on with %s", summary.InfrastructureExcluded, summary.Trials, world.goOn(run))
	case c.FailUnder != nil && summary.Success == nil:
		return threshold{errors.New("no success rate: " + summary.Withheld)}
	case c.FailUnder != nil && *summary.Success < *c.FailUnder:
		return threshold{fmt.Errorf("the success rate %.4g is below %.4g", *summary.Success, *c.FailUnder)}
	}
	return nil
}

// printReport writes a report to stdout.
func (w *console) printReport(ctx context.Context, room evaluation.Room, run string, format formats.Format) error {
	r, err := room.Report(ctx, run)
	if err != nil {
		return err
	}
	return r.Write(w.out, format)
}
