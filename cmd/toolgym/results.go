package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"toolgym/grpo/eval"
	formats "toolgym/grpo/eval/report"
	"toolgym/grpo/rollout"
	"toolgym/internal/evaluation"
	"toolgym/internal/plain"
	"toolgym/tools"
)

type reportCommand struct {
	Name   string `arg:"" name:"run" help:"Run."`
	Format string `help:"Format: ${enum}." enum:"text,md,html,json,csv,junit" default:"text"`
	Output string `short:"o" help:"File to write (default: stdout)." placeholder:"FILE"`
}

func (c reportCommand) Run(ctx context.Context, world *console) error {
	return world.withKept(ctx, func(room evaluation.Room) error {
		r, err := room.Report(ctx, c.Name)
		if err != nil {
			return err
		}
		return world.writeFile(c.Output, func(w io.Writer) error { return r.Write(w, formats.Format(c.Format)) })
	})
}

type compareCommand struct {
	First  string `arg:"" help:"Run."`
	Second string `arg:"" help:"Run that is compared with the first."`
	JSON   bool   `help:"Print JSON."`
}

func (c compareCommand) Run(ctx context.Context, world *console) error {
	return world.withKept(ctx, func(room evaluation.Room) error {
		comparison, err := room.Compare(ctx, c.First, c.Second)
		if err != nil {
			return err
		}
		if c.JSON {
			return world.printJSON(comparison)
		}
		return world.printf("%s\n", comparison.Sentence)
	})
}

type showCommand struct {
	Name  string `arg:"" name:"run" help:"Run."`
	Task  string `arg:"" help:"Task."`
	Trial *int   `help:"Only this trial, from 0." placeholder:"K"`
	JSON  bool   `help:"Print JSON: a line a trial."`
}

func (c showCommand) Run(ctx context.Context, world *console) error {
	return world.withKept(ctx, func(room evaluation.Room) error {
		run, err := room.Store.Run(ctx, c.Name)
		if err != nil {
			return err
		}
		records, err := room.Store.Records(ctx, c.Name, c.Task)
		if err != nil {
			return err
		}
		records = slices.DeleteFunc(records, func(r eval.Record) bool { return c.Trial != nil && r.Trial.Trial != *c.Trial })
		if len(records) == 0 {
			return &tools.Error{Code: tools.NotFound, Where: "task", Message: fmt.Sprintf("the run %q has no such trial of %q", c.Name, c.Task), Want: "a task of the run, such as " + run.Tasks[0].ID}
		}
		for _, r := range records {
			if err := c.print(world, run, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c showCommand) print(world *console, run eval.Run, r eval.Record) error {
	if c.JSON {
		return world.printJSON(r)
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%s, trial %d, route %s: %s\n", r.Task, r.Trial.Trial, r.Route, outcome(r.Trial))
	if err := conversation(&b, run, r); err != nil {
		return err
	}
	for _, call := range r.Calls {
		_, _ = fmt.Fprintf(&b, "  call %s%s: %s, %s", call.Name, call.Arguments, call.Tier, call.Verdict)
		for _, v := range call.Violations {
			_, _ = fmt.Fprintf(&b, "; %s %s", v.Pointer, v.Message)
		}
		b.WriteString("\n")
	}
	for criterion := range r.Criteria.All() {
		if criterion.Weight != 0 && criterion.Error == "" {
			_, _ = fmt.Fprintf(&b, "  %s %g × %g\n", criterion.Name, criterion.Value, criterion.Weight)
		}
	}
	return world.printf("%s\n", plain.Text(b.String()))
}

func outcome(t eval.Trial) string {
	switch {
	case t.Failure != nil:
		return "not graded, " + t.Failure.Kind + ": " + t.Failure.Reason
	case t.Success:
		return fmt.Sprintf("passed, reward %.2f", *t.Reward)
	}
	return fmt.Sprintf("failed, reward %.2f", *t.Reward)
}

// conversation writes the prompt and all messages.
func conversation(b *strings.Builder, run eval.Run, r eval.Record) error {
	var task struct {
		Task tools.Task `json:"task"`
	}
	at := slices.IndexFunc(run.Tasks, func(t eval.RunTask) bool { return t.ID == r.Task })
	if err := json.Unmarshal(run.Tasks[at].Document, &task); err != nil {
		return fmt.Errorf("reading the task %s: %w", r.Task, err)
	}
	for _, m := range task.Task.Prompt {
		_, _ = fmt.Fprintf(b, "%s: %s\n", m.Role, m.Content)
	}
	var transcript rollout.Transcript
	if err := json.Unmarshal(r.Transcript, &transcript); err != nil {
		return fmt.Errorf("reading a transcript of %s: %w", r.Task, err)
	}
	for _, text := range transcript.Messages {
		var m struct {
			Role      string          `json:"role"`
			Content   string          `json:"content"`
			ToolCalls json.RawMessage `json:"tool_calls"`
			Error     string          `json:"error"`
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("reading a message of %s: %w", r.Task, err)
		}
		_, _ = fmt.Fprintf(b, "%s: %s%s%s\n", m.Role, m.Content, m.ToolCalls, m.Error)
	}
	return nil
}
