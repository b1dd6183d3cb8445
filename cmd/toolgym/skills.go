package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"toolgym/internal/atomicfile"
	"toolgym/internal/refusal"
	"toolgym/policy/skill"
	"toolgym/tools"
)

type skillsCommand struct {
	Learn   skillsLearn   `cmd:"" help:"Learn skills on the gridworld, and compare with the same explorer without; or macros on arithmetic."`
	Extract skillsExtract `cmd:"" help:"Make skills of what anybody played."`
	List    skillsList    `cmd:"" help:"List the skills of a library."`
	Plot    skillsPlot    `cmd:"" help:"Draw again what a run recorded."`
}

// The files in the directory of --out.
const (
	libraryFile  = "library.json"
	episodesFile = "episodes.jsonl"
	plotFile     = "skills"
)

type skillsLearn struct {
	Env      string `help:"Environment: ${enum}." enum:"gridworld,arithmetic" default:"gridworld"`
	Level    string `help:"Level (default: 0; on arithmetic 0,1,2, and measured on large as well)."`
	Episodes int    `help:"Episodes to learn in (default: 60, under the documented rules 15)."`
	Seed     uint64 `help:"Seed of the first of the five runs." default:"0"`
	Rules    string `help:"Rules: sound or documented." default:"sound"`
	Explorer string `help:"How it explores, knowing nothing: ${enum}." enum:"novelty,random" default:"novelty"`
	Out      string `help:"Directory to write library, episodes and plots to; a library that is there is gone on with." placeholder:"DIR"`
}

func (c skillsLearn) Run(ctx context.Context, world *console) error {
	if c.Env != "gridworld" {
		return c.learnMacros(ctx, world)
	}
	course := skill.Experiment{Rules: c.Rules, Level: c.Level, Episodes: c.Episodes, Seed: c.Seed, Explorer: c.Explorer}
	var err error
	if course.Library, err = libraryIn(c.Out); err != nil {
		return err
	}
	if err := course.Validate(); err != nil {
		return err
	}
	if err := makeOut(c.Out); err != nil {
		return err
	}
	if course.Library != nil {
		world.log.Info("going on", "library", filepath.Join(c.Out, libraryFile), "skills", course.Library.Len())
	}
	bar := newEpisodeBar(world.err, course.Total())
	var episodes []skill.Episode
	library, err := course.Run(ctx, func(e skill.Episode) error {
		episodes = append(episodes, e)
		bar.add()
		if e.Run != 0 || e.Agent != skill.WithSkills || e.Part != skill.Learning {
			return nil
		}
		return printEpisode(bar.above(world.out), e)
	})
	bar.end()
	if err != nil && ctx.Err() == nil {
		return err
	}
	if err := c.keep(library, episodes); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("stopped after %d of %d episodes; %s", len(episodes), course.Total(), c.where())
	}
	return world.printJSON(skill.Summarize(episodes))
}

func printEpisode(out io.Writer, e skill.Episode) error {
	if _, err := fmt.Fprintf(out, "episode %d reward %.1f steps %d skills %d\n", e.Number, e.Reward, e.Steps, e.Skills); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return nil
}

// where says what became of a run that was stopped, and how to go on.
func (c skillsLearn) where() string {
	if c.Out == "" {
		return "nothing is kept without --out DIR"
	}
	return "what was learnt is kept in " + c.Out + ", the same command goes on with it"
}

// libraryIn reads the library in the directory of --out; nil if there is none.
func libraryIn(out string) (*skill.Library, error) {
	if out == "" {
		return nil, nil
	}
	library, err := skill.Load(filepath.Join(out, libraryFile))
	if refusal.Is(err, tools.NotFound) || errors.Is(err, syscall.ENOTDIR) { // makeOut reports the latter
		return nil, nil
	}
	return library, err
}

// makeOut makes the directory of --out: after the flags have been checked, and
// before anything is learnt that could not be kept.
func makeOut(out string) error {
	if out == "" {
		return nil
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return unwritable("--out", "a directory that can be written", err)
	}
	return nil
}

// keep writes everything to the directory.
func (c skillsLearn) keep(library *skill.Library, episodes []skill.Episode) error {
	if c.Out == "" || library == nil {
		return nil
	}
	if err := library.Save(filepath.Join(c.Out, libraryFile)); err != nil {
		return err
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, e := range episodes {
		if err := encoder.Encode(e); err != nil {
			return fmt.Errorf("encoding an episode: %w", err)
		}
	}
	if err := atomicfile.Write(filepath.Join(c.Out, episodesFile), lines.Bytes()); err != nil {
		return fmt.Errorf("writing episodes: %w", err)
	}
	_, err := drawSkills(c.Out, episodes)
	return err
}

// drawSkills writes the plots and returns their paths.
func drawSkills(dir string, episodes []skill.Episode) ([]string, error) {
	var paths []string
	for _, format := range []string{"png", "svg"} {
		drawn, err := skill.Draw(episodes, format)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, plotFile+"."+format)
		if err := atomicfile.Write(path, drawn); err != nil {
			return nil, fmt.Errorf("writing a plot: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// learntSkills reads the library of a --skills flag; nil without one.
func learntSkills(path string) (*skill.Library, error) {
	if path == "" {
		return nil, nil
	}
	return skill.Load(path)
}

type skillsPlot struct {
	Out string `help:"Directory that skills learn wrote to." placeholder:"DIR" required:""`
}

func (c skillsPlot) Run(world *console) error {
	path := filepath.Join(c.Out, episodesFile)
	file, err := os.Open(path)
	if err != nil {
		return refusal.New("--out", "a directory that toolgym skills learn --out wrote", "%v", err)
	}
	episodes, err := skill.ReadEpisodes(file)
	if err := errors.Join(refusal.Below(path+" ", err), file.Close()); err != nil {
		return err
	}
	paths, err := drawSkills(c.Out, episodes)
	for _, path := range paths {
		err = errors.Join(err, world.printf("%s\n", path))
	}
	return err
}
