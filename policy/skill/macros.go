package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"toolgym/tools"
	"toolgym/tools/baseline"
)

// A Lesson makes macros of what a teacher plays on arithmetic: the policy, an
// oracle, a language model. It then measures what the macros are worth.
type Lesson struct {
	Spec     tools.Spec // without macros
	Levels   []string   // that the teacher plays
	Episodes int        // of the teacher on each level
	Further  []string   // levels on which only is measured
	Tasks    int        // to measure on, for each level
	Seed     uint64
	Teacher  tools.Agent
}

// A Grade is how an agent does on a level.
type Grade struct {
	Level  string `json:"level"`
	Agent  string `json:"agent"`
	Macros bool   `json:"macros"` // whether they are among its tools
	Tasks  int    `json:"tasks"`
	Solved int    `json:"solved"`
	// Decisions and Calls are means over the tasks: a macro is one decision, and
	// as many calls as it makes.
	Decisions float64 `json:"decisions"`
	Calls     float64 `json:"calls"`
}

// Learn lets the teacher play and adds the macros to the library. After each
// episode it is shown to the observer.
func (l Lesson) Learn(ctx context.Context, library *Library, observe func(Episode) error) error {
	number := 0
	for _, level := range l.Levels {
		draw := rand.New(rand.NewPCG(l.Seed, stream(Learning)))
		for range l.Episodes {
			trajectory, err := l.play(ctx, l.Spec, level, draw.Uint64(), l.Teacher)
			if err != nil {
				return err
			}
			if _, _, err := library.Learn(trajectory); err != nil {
				return err
			}
			number++
			e, err := l.record(ctx, trajectory)
			if err != nil {
				return err
			}
			e.Agent, e.Part, e.Number, e.Skills = WithSkills, Learning, number, library.Len()
			if err := observe(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l Lesson) play(ctx context.Context, spec tools.Spec, level string, seed uint64, agent tools.Agent) (tools.Trajectory, error) {
	if err := ctx.Err(); err != nil {
		return tools.Trajectory{}, err
	}
	task, err := spec.Task(tools.Sound, level, seed)
	if err != nil {
		return tools.Trajectory{}, err
	}
	return tools.Rollout(ctx, spec.New(), task, agent)
}

// Examine measures on fresh tasks: the teacher and a random agent without
// macros, a random agent with them, and an agent that only calls the macro that
// fits. What came of each macro is counted in the library. A level that the
// teacher does not know has no grade of it. The observer is shown the episodes
// of the teacher, as those without skills, and of the agent that only calls macros.
func (l Lesson) Examine(ctx context.Context, library *Library, observe func(Episode) error) ([]Grade, error) {
	with := Offer(l.Spec, library)
	var grades []Grade
	for _, level := range append(append([]string{}, l.Levels...), l.Further...) {
		for _, candidate := range []struct {
			name   string
			spec   tools.Spec
			agent  tools.Agent
			macros bool
		}{
			{"teacher", l.Spec, l.Teacher, false},
			{"random", l.Spec, baseline.Random(rand.NewPCG(l.Seed, 4)), false},
			{"random", with, baseline.Random(rand.NewPCG(l.Seed, 4)), true},
			{"macros", with, reciter{library}, true},
		} {
			episodes, err := l.exam(ctx, candidate.spec, level, candidate.agent, library)
			if e := (*tools.Error)(nil); errors.As(err, &e) && e.Code == tools.Invalid && candidate.name == "teacher" {
				continue
			}
			if err != nil {
				return nil, err
			}
			grades = append(grades, gradeOf(episodes, Grade{Level: level, Agent: candidate.name, Macros: candidate.macros}))
			if err := show(episodes, map[string]string{"teacher": WithoutSkills, "macros": WithSkills}[candidate.name], observe); err != nil {
				return nil, err
			}
		}
	}
	return grades, nil
}

// show hands the episodes of an agent on; those without a name are not shown.
func show(episodes []Episode, agent string, observe func(Episode) error) error {
	for _, e := range episodes {
		e.Agent = agent
		if agent == "" {
			continue
		}
		if err := observe(e); err != nil {
			return err
		}
	}
	return nil
}

func gradeOf(episodes []Episode, g Grade) Grade {
	decisions, calls := 0, 0
	for _, e := range episodes {
		if e.Success {
			g.Solved++
		}
		decisions, calls = decisions+e.Decisions, calls+e.Steps
	}
	g.Tasks = len(episodes)
	g.Decisions, g.Calls = float64(decisions)/float64(max(g.Tasks, 1)), float64(calls)/float64(max(g.Tasks, 1))
	return g
}

// exam lets an agent play the tasks of a level.
func (l Lesson) exam(ctx context.Context, spec tools.Spec, level string, agent tools.Agent, library *Library) ([]Episode, error) {
	var episodes []Episode
	draw := rand.New(rand.NewPCG(l.Seed, stream(Evaluating)))
	for n := range l.Tasks {
		trajectory, err := l.play(ctx, spec, level, draw.Uint64(), agent)
		if err != nil {
			return nil, err
		}
		e, err := l.record(ctx, trajectory)
		if err != nil {
			return nil, err
		}
		e.Part, e.Number, e.Skills = Evaluating, n+1, library.Len()
		episodes = append(episodes, e)
		if _, ok := agent.(reciter); !ok {
			continue
		}
		if err := count(library, trajectory); err != nil {
			return nil, err
		}
	}
	return episodes, nil
}

// record is an episode's figures. Its optimum is the task's own or, where the
// task does not say, what the oracle needs.
func (l Lesson) record(ctx context.Context, t tools.Trajectory) (Episode, error) {
	e := Episode{Task: t.Task.ID, Reward: t.Return, Decisions: len(t.Steps), Optimal: t.Task.Optimal, Success: t.Success}
	for _, step := range t.Steps {
		made, err := callsMade(step)
		if err != nil {
			return e, err
		}
		e.Steps += made
		if strings.HasPrefix(step.Call.Name, Prefix) && !step.Result.IsError {
			e.Uses++
		}
	}
	if e.Optimal > 0 || l.Spec.Oracle == nil {
		return e, nil
	}
	best, err := tools.Rollout(ctx, l.Spec.New(), t.Task, l.Spec.Oracle)
	e.Optimal = len(best.Steps)
	return e, err
}

// callsMade is how many calls of the environment a step was.
func callsMade(step tools.Step) (int, error) {
	made := struct {
		Calls int `json:"calls_made"`
	}{1}
	if err := json.Unmarshal(step.Result.Content, &made); len(step.Result.Content) > 0 && err != nil {
		return 0, fmt.Errorf("reading a result: %w", err)
	}
	return made.Calls, nil
}

// count notes what came of the last macro of an episode.
func count(library *Library, t tools.Trajectory) error {
	if len(t.Steps) == 0 {
		return nil
	}
	name := t.Steps[len(t.Steps)-1].Call.Name
	return library.Count(name[len(Prefix):], t.Success)
}

// reciter is an agent that solves an arithmetic task by one call: of the macro
// whose shape is the task's, the most successful where there are several. It
// does nothing in a task for which it has none.
type reciter struct{ library *Library }

var _ tools.Agent = reciter{}

func (r reciter) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	e, ok := expressionOf(task)
	if !ok {
		return nil
	}
	found, err := r.library.Retrieve(State{Env: task.Env, Rules: task.Rules, Shape: e.shape}, nil, mostTried)
	if err != nil {
		return err
	}
	for _, s := range found {
		if _, offered := caller.Tools().Lookup(Prefix + s.Name); !offered {
			continue
		}
		step, err := caller.Step(ctx, tools.Call{Name: Prefix + s.Name, Arguments: json.RawMessage("{}")})
		if err != nil || step.Done() {
			return err
		}
	}
	return nil
}

// mostTried is how many macros are tried in a task, one after the other.
const mostTried = 4
