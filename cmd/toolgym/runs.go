package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"toolgym/grpo/eval"
	"toolgym/internal/evaluation"
	"toolgym/internal/store"
)

type runsCommand struct {
	List    runsListCommand    `cmd:"" default:"withargs" help:"List the evaluations that are kept."`
	Delete  runsDeleteCommand  `cmd:"" help:"Delete one, with everything that was said in it."`
	Export  runsExportCommand  `cmd:"" help:"Write one as JSONL: the run, then a line a trial with everything that was said."`
	Rescore runsRescoreCommand `cmd:"" help:"Judge one again from what was said in it, without the model."`
}

type runsListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c runsListCommand) Run(ctx context.Context, world *console) error {
	return world.withKept(ctx, func(room evaluation.Room) error {
		runs, err := room.Store.Runs(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return world.printJSON(map[string][]store.Listing{"runs": runs})
		}
		var rows [][]string
		for _, r := range runs {
			rows = append(rows, []string{r.Name, r.Model, fmt.Sprintf("%d/%d", r.Kept, r.Planned), fmt.Sprint(r.Failed), r.Created.Local().Format(time.DateTime)})
		}
		return world.printTable([]string{"RUN", "MODEL", "TRIALS", "FAILED OUTSIDE", "BEGUN"}, rows)
	})
}

type runsDeleteCommand struct {
	Name string `arg:"" name:"run" help:"Run."`
}

func (c runsDeleteCommand) Run(ctx context.Context, world *console) error {
	return world.withKept(ctx, func(room evaluation.Room) error { return room.Store.Delete(ctx, c.Name) })
}

type runsExportCommand struct {
	Name string `arg:"" name:"run" help:"Run."`
	File string `arg:"" help:"File to write, - for stdout."`
}

func (c runsExportCommand) Run(ctx context.Context, world *console) error {
	return world.withKept(ctx, func(room evaluation.Room) error {
		return world.writeFile(c.File, func(w io.Writer) error { return export(ctx, room, c.Name, w) })
	})
}

func export(ctx context.Context, room evaluation.Room, name string, w io.Writer) error {
	run, err := room.Store.Run(ctx, name)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(run); err != nil {
		return fmt.Errorf("exporting %s: %w", name, err)
	}
	return room.Store.EachRecord(ctx, name, "", func(r eval.Record) error {
		if err := encoder.Encode(r); err != nil {
			return fmt.Errorf("exporting %s: %w", name, err)
		}
		return nil
	})
}

type runsRescoreCommand struct {
	Name   string `arg:"" name:"run" help:"Run."`
	Rubric string `help:"Rubric, YAML or JSON (default: the one of toolgym eval)." placeholder:"FILE"`
	JSON   bool   `help:"Print JSON."`
}

// Help shows how the command is used.
func (runsRescoreCommand) Help() string {
	return `Grades all kept trials of a run again. No server is asked: what the model said
is read from the database. Verdicts that differ are kept beside the old ones, and
reports show the latest; with the same rubric none does, to the byte.

Examples:
  toolgym runs rescore nightly
  toolgym runs rescore nightly --rubric rubric.yaml && toolgym report nightly`
}

func (c runsRescoreCommand) Run(ctx context.Context, world *console) error {
	rubric, err := readRubric(c.Rubric)
	if err != nil {
		return err
	}
	return world.withKept(ctx, func(room evaluation.Room) error {
		room.Rubric = &rubric
		r, err := room.Rescore(ctx, c.Name)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return world.printJSON(r)
		}
		return world.printf("%s: %d trials judged again, %d verdicts changed\n", r.Run, r.Trials, r.Changed)
	})
}

// writeFile lets do write to a file, or to stdout for "-" and no name. A file
// appears whole or not at all.
func (w *console) writeFile(path string, do func(io.Writer) error) error {
	if path == "" || path == "-" {
		return do(w.out)
	}
	partial := path + ".partial"
	file, err := os.Create(partial)
	if err != nil {
		return unwritable(path, "a file that can be written", err)
	}
	err = errors.Join(do(file), file.Close())
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return nil
}
