package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"toolgym/tools"
)

// An Agent plays the gridworld with the skills of its library, and explores if
// it knows no skill that helps. It learns after an episode, by [Agent.Learn].
// It must not be used concurrently.
type Agent struct {
	library  *Library // nil: only explores
	explorer Explorer
	frozen   bool
	counts   EpisodeCounts
}

var _ tools.Agent = (*Agent)(nil)

// EpisodeCounts are the counts of an episode.
type EpisodeCounts struct {
	Decisions int `json:"decisions"` // a skill counts as one, like an explored action
	Uses      int `json:"uses"`      // executions of skills
}

// NewAgent makes an agent. Without a library (nil) it only explores: the
// baseline for learning.
func NewAgent(library *Library, explorer Explorer) *Agent {
	return &Agent{library: library, explorer: explorer}
}

// Frozen returns a copy of the agent that counts and learns nothing.
func (a *Agent) Frozen() *Agent {
	f := *a
	f.frozen = true
	return &f
}

// Counts returns the counts of the last episode.
func (a *Agent) Counts() EpisodeCounts { return a.counts }

// Play plays to the end of the episode.
func (a *Agent) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	v, err := newGridView(task, observation)
	if err != nil {
		return err
	}
	a.counts = EpisodeCounts{}
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

func (a *Agent) explore(ctx context.Context, v *gridView, caller tools.Caller) (done bool, err error) {
	a.counts.Decisions++
	step, err := caller.Step(ctx, a.explorer.Choose(caller.Tools(), fmt.Sprint(v.gridKey())))
	if err != nil {
		return false, err
	}
	_, err = v.update(step.Result.Content)
	return step.Done(), err
}

// follow executes a chain up to its first failure.
func (a *Agent) follow(ctx context.Context, v *gridView, caller tools.Caller, way chain) (done bool, err error) {
	for i := range way.skills {
		var ok bool
		if ok, done, err = a.execute(ctx, v, caller, &way.skills[i]); err != nil || done || !ok {
			return done, err
		}
	}
	return done, nil
}

// execute makes a skill's calls. It fails at the first call with another effect
// than before.
func (a *Agent) execute(ctx context.Context, v *gridView, caller tools.Caller, s *Skill) (ok, done bool, err error) {
	a.counts.Decisions++
	a.counts.Uses++
	start := v.agent
	ok = true
	newGridSkill := 0
	for ; newGridSkill < len(s.Actions) && ok && !done; newGridSkill++ {
		step, err := caller.Step(ctx, s.Actions[newGridSkill])
		if err != nil {
			return false, false, err
		}
		if _, err := v.update(step.Result.Content); err != nil {
			return false, false, err
		}
		done = step.Done()
		ok = v.agent == start.plus(s.Path[newGridSkill])
	}
	if a.frozen || ok && newGridSkill < len(s.Actions) { // the end of the episode says nothing about the skill
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

// An Explorer chooses a tool if no skill is known to help. It knows nothing
// about the effects of tools. It must not be used concurrently.
type Explorer interface {
	// Begin is called when an episode begins.
	Begin()
	// Choose returns a call of one of the tools, which have no arguments, in a state
	// with a name.
	Choose(set tools.Set, state string) tools.Call
}

// The names of the explorers.
const (
	ExploreNovelty = "novelty" // the tool that was tried least in the state
	ExploreRandom  = "random"
)

// NewExplorer makes an explorer by its name; it draws from the source. An
// unknown name is a [*tools.Error] with code invalid.
func NewExplorer(name string, source rand.Source) (Explorer, error) {
	e := &explorer{draw: rand.New(source), novelty: name == ExploreNovelty}
	if name != ExploreNovelty && name != ExploreRandom {
		return nil, invalid("explorer", fmt.Sprintf("unknown explorer %.80q", name), "novelty or random")
	}
	return e, nil
}

type explorer struct {
	draw    *rand.Rand
	novelty bool
	tried   map[[2]string]int // by state and tool, in this episode
}

func (e *explorer) Begin() { e.tried = map[[2]string]int{} }

func (e *explorer) Choose(set tools.Set, state string) tools.Call {
	var least []string
	fewest := 0
	for _, tool := range set {
		if strings.HasPrefix(tool.Name, Prefix) {
			continue
		}
		n := 0
		if e.novelty {
			n = e.tried[[2]string{state, tool.Name}]
		}
		if len(least) == 0 || n < fewest {
			least, fewest = least[:0], n
		}
		if n == fewest {
			least = append(least, tool.Name)
		}
	}
	if len(least) == 0 {
		return tools.Call{}
	}
	name := least[e.draw.Uint32N(uint32(len(least)))]
	if e.novelty {
		e.tried[[2]string{state, name}]++
	}
	return tools.Call{Name: name, Arguments: json.RawMessage("{}")}
}

// segment is the number of an episode's last steps that become a skill, and
// fewestSteps the minimum length of an episode.
const (
	segment     = 5
	fewestSteps = 3
)

// documented is the published agent: it executes a skill that applies, and
// otherwise walks directly to the next target, which is already optimal.
type documented struct {
	library *Library // nil: only walks
	counts  EpisodeCounts
}

func (a *documented) Counts() EpisodeCounts { return a.counts }

func (a *documented) Play(ctx context.Context, task tools.Task, observation json.RawMessage, caller tools.Caller) error {
	v, err := newGridView(task, observation)
	if err != nil {
		return err
	}
	a.counts = EpisodeCounts{}
	for done := false; !done; {
		if done, err = a.decide(ctx, v, caller); err != nil {
			return err
		}
	}
	return nil
}

// decide executes the skill that is nearest to the state, or one action.
func (a *documented) decide(ctx context.Context, v *gridView, caller tools.Caller) (done bool, err error) {
	a.counts.Decisions++
	if a.library == nil {
		return takeStep(ctx, v, caller, greedyCall(v))
	}
	found, err := a.library.Retrieve(v.state(), documentedEmbedding(v.agent, v.key, v.open, nil), 1)
	if err != nil {
		return false, err
	}
	if len(found) == 0 {
		return takeStep(ctx, v, caller, greedyCall(v))
	}
	a.counts.Uses++
	for _, call := range found[0].Actions {
		if done, err = takeStep(ctx, v, caller, call); err != nil || done {
			break
		}
	}
	if err != nil {
		return false, err
	}
	return done, a.library.Count(found[0].Name, done)
}

func takeStep(ctx context.Context, v *gridView, caller tools.Caller, call tools.Call) (done bool, err error) {
	step, err := caller.Step(ctx, call)
	if err != nil {
		return false, err
	}
	_, err = v.update(step.Result.Content)
	return step.Done(), err
}

// greedyCall is the published exploration: horizontally to the next target,
// then vertically, then the action at the target.
func greedyCall(v *gridView) tools.Call {
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
	v, err := newGridView(trajectory.Task, trajectory.Observation)
	if err != nil {
		return Skill{}, err
	}
	first := max(0, len(trajectory.Steps)-segment)
	s := Skill{Env: gridworldName, TimesFound: 1}
	var start gridKey
	for i, step := range trajectory.Steps {
		if i == first {
			start = v.gridKey()
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
