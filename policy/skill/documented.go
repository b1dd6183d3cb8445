package skill

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/tools"
)

// segment is how many of an episode's last steps become a skill, and
// fewestSteps how many an episode must have.
const (
	segment     = 5
	fewestSteps = 3
)

// documented is the published agent: a skill that applies is executed whole,
// and otherwise it walks straight to the next target, which is optimal already.
type documented struct {
	library *Library // nil: only walks
	tally   Tally
}

func (a *documented) Tally() Tally { return a.tally }

func (a *documented) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	v, err := look(task, observation)
	if err != nil {
		return err
	}
	a.tally = Tally{}
	for done := false; !done; {
		if done, err = a.decide(ctx, v, caller); err != nil {
			return err
		}
	}
	return nil
}

// decide executes the skill that is nearest to the state, or one action.
func (a *documented) decide(ctx context.Context, v *view, caller tools.Caller) (done bool, err error) {
	a.tally.Decisions++
	if a.library == nil {
		return act(ctx, v, caller, straight(v))
	}
	found, err := a.library.Retrieve(v.state(), documentedEmbedding(v.agent, v.key, v.open, nil), 1)
	if err != nil {
		return false, err
	}
	if len(found) == 0 {
		return act(ctx, v, caller, straight(v))
	}
	a.tally.Uses++
	for _, call := range found[0].Actions {
		if done, err = act(ctx, v, caller, call); err != nil || done {
			break
		}
	}
	if err != nil {
		return false, err
	}
	return done, a.library.Count(found[0].Name, done)
}

func act(ctx context.Context, v *view, caller tools.Caller, call tools.Call) (done bool, err error) {
	step, err := caller.Step(ctx, call)
	if err != nil {
		return false, err
	}
	_, err = v.update(step.Result.Content)
	return step.Done(), err
}

// straight is the published exploration: across to the next target, then up or
// down, then what is to be done there.
func straight(v *view) tools.Call {
	flag, target, _ := v.next()
	way := target.minus(v.agent)
	name := map[string]string{hasKey: "pickup_key", doorOpen: "open_door"}[flag]
	switch {
	case way[0] > 0:
		name = "move_right"
	case way[0] < 0:
		name = "move_left"
	case way[1] > 0:
		name = "move_up"
	case way[1] < 0:
		name = "move_down"
	}
	return tools.Call{Name: name, Arguments: json.RawMessage("{}")}
}

// Learn adds the skill of an episode to the library.
func (a *documented) Learn(trajectory tools.Trajectory) error {
	if a.library == nil || !trajectory.Success || len(trajectory.Steps) < fewestSteps {
		return nil
	}
	s, err := extractLast(trajectory)
	if err != nil {
		return err
	}
	_, err = a.library.Add(s)
	return err
}

// extractLast makes a skill of an episode's last steps, as published. It is
// named by what changed.
func extractLast(trajectory tools.Trajectory) (Skill, error) {
	v, err := look(trajectory.Task, trajectory.Observation)
	if err != nil {
		return Skill{}, err
	}
	first := max(0, len(trajectory.Steps)-segment)
	s := Skill{Env: gridworldName, TimesFound: 1}
	var start standing
	for i, step := range trajectory.Steps {
		if i == first {
			start = v.standing()
		}
		if _, err := v.update(step.Result.Content); err != nil {
			return Skill{}, err
		}
		if i >= first {
			s.Actions = append(s.Actions, tools.Call{Name: step.Call.Name, Arguments: json.RawMessage("{}")})
			s.Path = append(s.Path, v.agent.minus(start.at))
		}
	}
	s.Preconditions = map[string]bool{hasKey: start.key, doorOpen: start.open}
	switch {
	case v.key && !start.key:
		s.Name = "acquire_key"
	case v.open && !start.open:
		s.Name = "open_door_sequence"
	default:
		s.Name = fmt.Sprintf("navigate_%d_steps", len(s.Actions))
	}
	s.Embedding = documentedEmbedding(start.at, start.key, start.open, s.Actions)
	return s, nil
}
