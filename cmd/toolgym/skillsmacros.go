package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/policy/skill"
	"toolgym/tools"
)

// The figures of a lesson on arithmetic.
const (
	lessonEpisodes = 5   // of the teacher, on each level
	lessonTasks    = 200 // to measure on
)

// learnMacros makes macros of arithmetic plans and shows what they are worth.
func (c skillsLearn) learnMacros(ctx context.Context, world *console) error {
	lesson, err := c.lesson(world)
	if err != nil {
		return err
	}
	library, err := libraryIn(c.Out)
	if err != nil {
		return err
	}
	if err := makeOut(c.Out); err != nil {
		return err
	}
	if library == nil {
		library = skill.NewLibrary(tools.Sound)
	}
	var episodes []skill.Episode
	err = lesson.Learn(ctx, library, func(e skill.Episode) error {
		episodes = append(episodes, e)
		return printEpisode(world.out, e)
	})
	if err != nil {
		return err
	}
	grades, err := lesson.Evaluate(ctx, library, func(e skill.Episode) error {
		episodes = append(episodes, e)
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.keep(library, episodes); err != nil {
		return err
	}
	if err := world.printGrades(grades); err != nil {
		return err
	}
	return world.printJSON(skill.Summarize(episodes))
}

// lesson is what the flags ask for.
func (c skillsLearn) lesson(world *console) (skill.MacroExperiment, error) {
	spec, err := world.specs.Lookup(c.Env)
	if err != nil {
		return skill.MacroExperiment{}, err
	}
	if c.Rules != tools.Sound {
		return skill.MacroExperiment{}, refusal.New("--rules", "sound", "macros of %s under the %s rules", c.Env, c.Rules)
	}
	l := skill.MacroExperiment{Spec: spec, Levels: []string{"0", "1", "2"}, Further: []string{"large"}, Episodes: lessonEpisodes, Tasks: lessonTasks, Seed: c.Seed, Teacher: spec.Oracle}
	if c.Level != "" {
		l.Levels, l.Further = strings.Split(c.Level, ","), nil
	}
	if c.Episodes < 0 {
		return l, refusal.New("--episodes", "at least 1, or 0 for the default", "%d episodes", c.Episodes)
	}
	l.Episodes = cmp.Or(c.Episodes, l.Episodes)
	for _, level := range l.Levels {
		if _, err := spec.Task(c.Rules, level, c.Seed); err != nil {
			return l, err
		}
	}
	return l, nil
}

// printGrades prints the table of agents with and without macros.
func (w *console) printGrades(grades []skill.LevelResult) error {
	var rows [][]string
	for _, g := range grades {
		rows = append(rows, []string{g.Level, g.Agent, map[bool]string{true: "with", false: "without"}[g.Macros],
			fmt.Sprintf("%d/%d", g.Solved, g.Tasks), fmt.Sprintf("%.1f", g.Decisions), fmt.Sprintf("%.1f", g.Calls)})
	}
	return w.printTable([]string{"LEVEL", "AGENT", "MACROS", "SOLVED", "DECISIONS", "CALLS"}, rows)
}
