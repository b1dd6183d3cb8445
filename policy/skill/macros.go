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

// A MacroExperiment makes macros of a teacher's episodes on arithmetic (a
// policy, an oracle, a language model) and evaluates them.
type MacroExperiment struct {
	Spec     tools.Spec // without macros
	Levels   []string   // of the teacher
	Episodes int        // of the teacher per level
	Further  []string   // levels for evaluation only
	Tasks    int        // for evaluation, per level
	Seed     uint64
	Teacher  tools.Agent
}

// A LevelResult is the result of an agent on a level.
type LevelResult struct {
	Level  string `json:"level"`
	Agent  string `json:"agent"`
	Macros bool   `json:"macros"` // whether it has macros as tools
	Tasks  int    `json:"tasks"`
	Solved int    `json:"solved"`
	// Decisions and Calls are means over the tasks: a macro is one decision and
	// several calls.
	Decisions float64 `json:"decisions"`
	Calls     float64 `json:"calls"`
}

// Learn plays the teacher's episodes and adds the macros to the library. It
// passes each episode to observe.
func (l MacroExperiment) Learn(ctx context.Context, library *Library, observe func(Episode) error) error {
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

func (l MacroExperiment) play(ctx context.Context, spec tools.Spec, level string, seed uint64, agent tools.Agent) (tools.Trajectory, error) {
	if err := ctx.Err(); err != nil {
		return tools.Trajectory{}, err
	}
	task, err := spec.Task(tools.Sound, level, seed)
	if err != nil {
		return tools.Trajectory{}, err
	}
	return tools.Rollout(ctx, spec.New(), task, agent)
}

// Evaluate plays new tasks: the teacher and a random agent without macros, a
// random agent with macros, and an agent that only calls the macro of the
// task's shape. The library counts the executions. A level that the teacher
// cannot play has no result of the teacher. The episodes of the teacher (as
// those without skills) and of the macro agent are passed to observe.
func (l MacroExperiment) Evaluate(ctx context.Context, library *Library, observe func(Episode) error) ([]LevelResult, error) {
	with := AddTools(l.Spec, library)
	var results []LevelResult
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
			{"macros", with, macroAgent{library}, true},
		} {
			episodes, err := l.evaluateLevel(ctx, candidate.spec, level, candidate.agent, library)
			if e := (*tools.Error)(nil); errors.As(err, &e) && e.Code == tools.Invalid && candidate.name == "teacher" {
				continue
			}
			if err != nil {
				return nil, err
			}
			results = append(results, levelResult(episodes, LevelResult{Level: level, Agent: candidate.name, Macros: candidate.macros}))
			if err := show(episodes, map[string]string{"teacher": WithoutSkills, "macros": WithSkills}[candidate.name], observe); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// show passes the episodes of an agent on; those without a name are not shown.
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

func levelResult(episodes []Episode, g LevelResult) LevelResult {
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

// evaluateLevel plays the tasks of a level with an agent.
func (l MacroExperiment) evaluateLevel(ctx context.Context, spec tools.Spec, level string, agent tools.Agent, library *Library) ([]Episode, error) {
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
		if _, ok := agent.(macroAgent); !ok {
			continue
		}
		if err := count(library, trajectory); err != nil {
			return nil, err
		}
	}
	return episodes, nil
}

// record returns the figures of an episode. Its optimum is that of the task or,
// without one, the number of calls of the oracle.
func (l MacroExperiment) record(ctx context.Context, t tools.Trajectory) (Episode, error) {
	e := Episode{Task: t.Task.ID, Reward: t.Return, Decisions: len(t.Steps), Optimal: t.Task.Optimal, Success: t.Success}
	for _, step := range t.Steps {
		newGridSkill, err := callsMade(step)
		if err != nil {
			return e, err
		}
		e.Steps += newGridSkill
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

// callsMade returns the number of calls of a step.
func callsMade(step tools.Step) (int, error) {
	newGridSkill := struct {
		Calls int `json:"calls_made"`
	}{1}
	if err := json.Unmarshal(step.Result.Content, &newGridSkill); len(step.Result.Content) > 0 && err != nil {
		return 0, fmt.Errorf("reading a result: %w", err)
	}
	return newGridSkill.Calls, nil
}

// count counts the last macro of an episode.
func count(library *Library, t tools.Trajectory) error {
	if len(t.Steps) == 0 {
		return nil
	}
	name := t.Steps[len(t.Steps)-1].Call.Name
	return library.Count(name[len(Prefix):], t.Success)
}

// macroAgent solves an arithmetic task by one call: of the macro with the shape
// of the task, the most successful first. Without a macro it does nothing.
type macroAgent struct{ library *Library }

var _ tools.Agent = macroAgent{}

func (r macroAgent) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
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

// mostTried is the maximum number of macros that are tried in a task.
const mostTried = 4
