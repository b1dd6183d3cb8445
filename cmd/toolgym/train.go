package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolgym/internal/atomicfile"
	"toolgym/internal/refusal"
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
	"toolgym/tools"
)

type trainCommand struct {
	Env        string   `help:"Environment: ${enum}." enum:"arithmetic,gridworld" default:"arithmetic"`
	Stages     []string `help:"Stages, which are levels of the environment (default: 0,1,2 of arithmetic, 0 of gridworld)." placeholder:"N,…"`
	Rules      string   `help:"Rules: ${enum}." enum:"sound,documented" default:"sound"`
	Curriculum string   `help:"Curriculum: ${enum}. The documented one is the published run's." enum:"mastery,documented" default:"mastery"`
	Algo       string   `help:"Algorithm: ${enum}." enum:"a2c,grpo" default:"a2c"`
	Pool       string   `help:"How the context is read: ${enum}." enum:"ordered,own,batch" default:"ordered"`
	Seed       uint64   `help:"Seed of weights, tasks and plans." default:"0"`
	Updates    *int     `help:"Budget of updates in all, those before --resume included (default: the curriculum's)." placeholder:"N"`
	HoldOut    float64  `help:"Share of the tasks that training leaves out and evaluation is made on." default:"0" placeholder:"SHARE"`
	Out        string   `help:"Directory of checkpoint, telemetry and curves (default: a new one below --data)." placeholder:"DIR"`
	Resume     string   `help:"Go on with the run in this directory, by its own choices." placeholder:"DIR"`
	JSON       bool     `help:"Print JSON: a line an update, then the result."`
}

// checkpointName is the file of the weights in a run's directory; telemetry and
// curves lie beside it.
const checkpointName = "policy.safetensors"

func (c trainCommand) Run(ctx context.Context, world *console) error {
	if c.Updates != nil && *c.Updates < 1 {
		return refusal.New("--updates", "at least 1", "%v", *c.Updates)
	}
	trainer, dir, err := c.prepare(world)
	if err != nil {
		return err
	}
	if err := trainer.Unfinished(); err != nil {
		return err
	}
	folder, err := telemetry.Open(dir, trainer.Updates(), time.Now)
	if err != nil {
		return err
	}
	bar := newBar(world.err, trainer.Config().Updates, trainer.Updates())
	show := &trainShow{world: world, folder: folder, bar: bar, json: c.JSON, published: trainer.Config().Curriculum == train.Published}
	result, err := trainer.Run(ctx, train.Options{
		Checkpoint: filepath.Join(dir, checkpointName), Observe: show.observe, Now: time.Now, CPU: train.CPUTime,
		Save: func(write func() error) error {
			if err := folder.Flush(); err != nil { // the telemetry is never behind the checkpoint
				return err
			}
			return write()
		},
	})
	bar.stop()
	closed := folder.Close()
	if !atomicfile.IsFull(err) { // otherwise it says the same again
		err = errors.Join(err, closed)
	}
	if atomicfile.IsFull(err) {
		return resumable(err, dir)
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("stopped and saved at update %d; go on with toolgym train --resume %s", result.Updates, quote(dir))
	}
	if err != nil {
		return err
	}
	return c.print(world, trainer, dir, result)
}

// resumable adds to the error of a full disk how to continue, if there is a
// checkpoint.
func resumable(err error, dir string) error {
	if _, missing := os.Stat(filepath.Join(dir, checkpointName)); missing != nil {
		return err
	}
	return fmt.Errorf("%w; when there is space, go on with toolgym train --resume %s", err, quote(dir))
}

// prepare makes the trainer of the flags, or the one of the run that goes on,
// and tells its directory.
func (c trainCommand) prepare(world *console) (*train.Trainer, string, error) {
	if c.Resume != "" {
		trainer, err := c.resume(world.specs)
		return trainer, c.Resume, err
	}
	spec, err := world.specs.Lookup(c.Env)
	if err != nil {
		return nil, "", err
	}
	config, err := c.config(spec)
	if err != nil {
		return nil, "", err
	}
	trainer, err := train.New(spec, config)
	if err != nil {
		return nil, "", err
	}
	dir, err := c.dir(world)
	return trainer, dir, err
}

func (c trainCommand) config(spec tools.Spec) (train.Config, error) {
	levels := c.Stages
	if len(levels) == 0 {
		levels = train.Stages(spec)
	}
	config, err := train.Default(spec, train.Choice{
		Levels: levels, Rules: c.Rules, Curriculum: c.Curriculum, Algorithm: c.Algo, Pool: c.Pool, Seed: c.Seed,
	})
	if err != nil {
		return config, refusal.Relocate(err, ofTrain)
	}
	config.HoldOut = c.HoldOut
	if c.Updates != nil {
		config.Updates = *c.Updates
	}
	return config, refusal.Relocate(config.Validate(), ofTrain)
}

// ofTrain is the flag behind a field of a training's configuration.
func ofTrain(field string) string {
	flags := map[string]string{"level": "--stages", "stages": "--stages", "hold_out": "--hold-out", "updates": "--updates", "pool": "--pool", "rules": "--rules"}
	return cmp.Or(flags[field], field)
}

// resume goes on with a run. Flags that would change what it learns are
// refused, since it would not be the same run.
func (c trainCommand) resume(specs tools.Specs) (*train.Trainer, error) {
	for flag, given := range map[string]bool{
		"--out": c.Out != "", "--stages": len(c.Stages) > 0, "--rules": c.Rules != tools.Sound, "--curriculum": c.Curriculum != train.Mastery,
		"--algo": c.Algo != train.A2C, "--pool": c.Pool != "ordered", "--seed": c.Seed != 0, "--env": c.Env != "arithmetic", "--hold-out": c.HoldOut != 0,
	} {
		if given {
			return nil, refusal.New(flag, "--resume with --updates and --json alone", "a resumed run keeps its own choices")
		}
	}
	updates := 0
	if c.Updates != nil {
		updates = *c.Updates
	}
	return train.Resume(specs, filepath.Join(c.Resume, checkpointName), updates)
}

// dir is where the run goes: --out, which must not hold another run, or the
// first free place below the data directory.
func (c trainCommand) dir(world *console) (string, error) {
	if c.Out != "" {
		if _, err := os.Stat(filepath.Join(c.Out, checkpointName)); err == nil {
			return "", &tools.Error{Code: tools.Conflict, Where: "--out", Message: c.Out + " holds a run already", Want: "--resume " + c.Out + ", or another directory"}
		}
		return c.Out, nil
	}
	data, err := world.dataDir()
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		dir := filepath.Join(data, "policy", fmt.Sprintf("%s-%s-seed%d-%d", c.Env, c.Algo, c.Seed, n))
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return dir, nil
		} else if err != nil {
			return "", fmt.Errorf("looking for a free directory: %w", err)
		}
	}
}

// print shows what came of a run.
func (c trainCommand) print(world *console, trainer *train.Trainer, dir string, result train.Result) error {
	if c.JSON {
		return world.printJSON(result)
	}
	if err := printStandings(world, result); err != nil {
		return err
	}
	records, err := telemetry.ReadFolder(dir)
	if err != nil {
		return err
	}
	if err := world.printf("\n%s\n", telemetry.Chart(records)); err != nil {
		return err
	}
	if config := trainer.Config(); config.Curriculum == train.Published {
		if err := printSamples(world, trainer, config); err != nil {
			return err
		}
	}
	return world.printf("\n%d updates, %d restarts, %.1f s of CPU; checkpoint, telemetry and curves are in %s\n", result.Updates, result.Restarts, result.CPU, dir)
}

// printStandings prints the table of the evaluation at the end.
func printStandings(world *console, result train.Result) error {
	var rows [][]string
	for _, s := range result.StageResults {
		rows = append(rows, []string{s.Stage, fmt.Sprint(s.Tasks), fmt.Sprintf("%.2f", s.Reward), fmt.Sprintf("%.1f %%", 100*s.Success), fmt.Sprintf("%.1f", s.Steps), s.Plan})
	}
	return world.printTable([]string{"STAGE", "TASKS", "REWARD", "SUCCESS", "STEPS", "PLAN"}, rows)
}

// printSamples explains five tasks of each stage, as the published run does.
func printSamples(world *console, trainer *train.Trainer, config train.Config) error {
	const samples = 5
	spec, err := world.specs.Lookup(config.Env)
	if err != nil {
		return err
	}
	for _, level := range config.Levels {
		list, err := train.Explain(trainer.Net(), spec, config.Rules, level, config.Seed, samples)
		if err != nil {
			return err
		}
		if err := world.printf("\nstage %s\n", level); err != nil {
			return err
		}
		if err := printExplanations(world, list); err != nil {
			return err
		}
	}
	return nil
}

// trainShow shows a run while it happens.
type trainShow struct {
	world           *console
	folder          *telemetry.Folder
	bar             *bar
	json, published bool
	restarts        int
}

func (s *trainShow) observe(r telemetry.Record) error {
	s.bar.step(r)
	if r.Restarts > s.restarts {
		s.restarts = r.Restarts
		s.world.log.Info("a stage made no progress: started again from a derived seed", "update", r.Update, "restarts", r.Restarts)
	}
	if err := s.folder.Write(r); err != nil {
		return err
	}
	switch {
	case s.json:
		return s.world.printJSON(r)
	case len(r.Greedy) == 0:
		return nil
	case s.published:
		return s.world.printf("%s\n", publishedLine(r))
	case s.bar.hidden():
		s.world.log.Info("evaluated", "update", r.Update, "success", greedySuccess(r))
	}
	return nil
}

// publishedLine is a line of the published run's log. What it calls acc is the
// mean reward; the success rate stands beside it.
func publishedLine(r telemetry.Record) string {
	var line, success strings.Builder
	stage, rate := "", 0.0
	for i, s := range r.Success {
		if s != nil {
			stage, rate = r.Stages[i], *s
		}
	}
	fmt.Fprintf(&line, "ep %2d stage %s acc %.3f | eval", r.Update, stage, r.Reward)
	for _, g := range r.Greedy {
		fmt.Fprintf(&line, " T%s %.3f", g.Stage, g.Reward)
		fmt.Fprintf(&success, " T%s %.3f", g.Stage, g.Success)
	}
	fmt.Fprintf(&line, " loss %.3f | success %.3f | eval%s", r.Loss, rate, success.String())
	return line.String()
}

func greedySuccess(r telemetry.Record) string {
	var parts []string
	for _, g := range r.Greedy {
		parts = append(parts, fmt.Sprintf("%s: %.3f", g.Stage, g.Success))
	}
	return strings.Join(parts, ", ")
}
