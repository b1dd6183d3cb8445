package skill

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/tools"
)

// An Agent plays the gridworld by the skills of its library, and explores where
// none is known to help. It learns from an episode after it, by
// [Agent.Learn]. It is used by one goroutine.
type Agent struct {
	library  *Library // nil: only explores
	explorer Explorer
	frozen   bool
	tally    Tally
}

var _ tools.Agent = (*Agent)(nil)

// A Tally is what an episode took.
type Tally struct {
	Decisions int `json:"decisions"` // a skill counts as one, as an explored action does
	Uses      int `json:"uses"`      // executions of skills
}

// NewAgent makes an agent. Without a library (nil) it only explores: the
// baseline that learning is compared with.
func NewAgent(library *Library, explorer Explorer) *Agent {
	return &Agent{library: library, explorer: explorer}
}

// Frozen is the agent as it will stay: it counts nothing and learns nothing.
func (a *Agent) Frozen() *Agent {
	f := *a
	f.frozen = true
	return &f
}

// Tally is what the last episode took.
func (a *Agent) Tally() Tally { return a.tally }

// Play plays to the end of the episode.
func (a *Agent) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	v, err := look(task, observation)
	if err != nil {
		return err
	}
	a.tally = Tally{}
	a.explorer.Begin()
	for done := false; !done; {
		var way chain
		if a.library != nil {
			way = a.library.plan(v)
		}
		if len(way.skills) == 0 {
			done, err = a.explore(ctx, v, caller)
		} else {
			done, err = a.follow(ctx, v, caller, way)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) explore(ctx context.Context, v *view, caller tools.Caller) (done bool, err error) {
	a.tally.Decisions++
	step, err := caller.Step(ctx, a.explorer.Choose(caller.Tools(), fmt.Sprint(v.standing())))
	if err != nil {
		return false, err
	}
	_, err = v.update(step.Result.Content)
	return step.Done(), err
}

// follow executes a chain up to its first failure.
func (a *Agent) follow(ctx context.Context, v *view, caller tools.Caller, way chain) (done bool, err error) {
	for i := range way.skills {
		var ok bool
		if ok, done, err = a.execute(ctx, v, caller, &way.skills[i]); err != nil || done || !ok {
			return done, err
		}
	}
	return done, nil
}

// execute makes a skill's calls. It fails at the first that does not lead where
// it once led.
func (a *Agent) execute(ctx context.Context, v *view, caller tools.Caller, s *Skill) (ok, done bool, err error) {
	a.tally.Decisions++
	a.tally.Uses++
	start := v.agent
	ok = true
	made := 0
	for ; made < len(s.Actions) && ok && !done; made++ {
		step, err := caller.Step(ctx, s.Actions[made])
		if err != nil {
			return false, false, err
		}
		if _, err := v.update(step.Result.Content); err != nil {
			return false, false, err
		}
		done = step.Done()
		ok = v.agent == start.plus(s.Path[made])
	}
	if a.frozen || ok && made < len(s.Actions) { // cut off by the episode's end, which tells nothing about the skill
		return ok, done, nil
	}
	ok = ok && (s.Gains == "" || v.flags()[s.Gains])
	return ok, done, a.library.Count(s.Name, ok)
}

// Learn adds the skills of an episode to the library.
func (a *Agent) Learn(trajectory tools.Trajectory) error {
	if a.library == nil || a.frozen {
		return nil
	}
	_, _, err := a.library.Learn(trajectory)
	return err
}
