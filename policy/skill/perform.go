package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"toolgym/tools"
)

// A scene is what is known of a running episode, from the prompt and from what
// tools answered.
type scene interface {
	// observe takes a tool's result in.
	observe(content json.RawMessage) error
	// lacks says which precondition of a skill does not hold; "" where all do.
	lacks(s *Skill) string
	// prepare is the i-th call of a skill, with its numbers filled in.
	prepare(s *Skill, i int) (tools.Call, error)
	// strays says how the i-th call of a skill, begun at the mark, did not
	// do what it should; "" where it did.
	strays(s *Skill, i int, mark Offset) string
	// mark is where a skill begins.
	mark() Offset
}

// setScene begins the scene of an episode. It is nil for an environment whose
// skills this package does not know how to perform.
func setScene(task tools.Task, observation json.RawMessage) (scene, error) {
	switch task.Env {
	case gridworldName:
		v, err := look(task, observation)
		return &ground{view: v}, err
	case arithmeticName:
		e, _ := expressionOf(task) // none at all fits no shape
		return &sheet{expression: e}, nil
	}
	return nil, nil
}

// ground is the scene of a gridworld episode.
type ground struct {
	*view
	note string // of the last result
}

func (g *ground) observe(content json.RawMessage) error {
	s, err := g.update(content)
	g.note = s.Note
	return err
}

func (g *ground) mark() Offset { return g.agent }

func (g *ground) lacks(s *Skill) string {
	have := g.flags()
	for _, flag := range slices.Sorted(maps.Keys(s.Preconditions)) {
		if want := s.Preconditions[flag]; have[flag] != want {
			return fmt.Sprintf("it needs %s to be %t, and it is %t", flag, want, have[flag])
		}
	}
	if s.Gains != "" {
		want := g.agent.plus(s.end())
		if at, known := g.places[placeOf(s.Gains)]; !known || at != want {
			return fmt.Sprintf("it needs the %s to be at %s", placeOf(s.Gains), cell(want))
		}
	}
	for _, o := range s.Path {
		if c := g.agent.plus(o); !g.free(c) {
			return fmt.Sprintf("it needs the cell %s to be free", cell(c))
		}
	}
	return ""
}

func (g *ground) prepare(s *Skill, i int) (tools.Call, error) { return s.Actions[i], nil }

func (g *ground) strays(s *Skill, i int, mark Offset) string {
	last := i == len(s.Actions)-1
	switch {
	case len(s.Path) > 0 && g.agent != mark.plus(s.Path[i]):
		return fmt.Sprintf("the agent is at %s and should be at %s: %s", cell(g.agent), cell(mark.plus(s.Path[i])), g.note)
	case last && s.Gains != "" && !g.flags()[s.Gains]:
		return fmt.Sprintf("%s is not true: %s", s.Gains, g.note)
	}
	return ""
}

// sheet is the scene of an arithmetic episode.
type sheet struct {
	expression
	results []string // of the calls of the macro that is being performed
}

func (s *sheet) observe(content json.RawMessage) error {
	number, err := resultOf(content)
	s.results = append(s.results, number)
	return err
}

func (s *sheet) mark() Offset {
	s.results = nil
	return Offset{}
}

func (s *sheet) lacks(skill *Skill) string {
	if skill.Shape != s.shape {
		return fmt.Sprintf("it needs a task that reads %s, and this one reads %s", skill.Shape, s.shape)
	}
	return ""
}

func (s *sheet) prepare(skill *Skill, i int) (tools.Call, error) {
	return fill(skill.Actions[i], s.operands, s.results)
}

func (s *sheet) strays(*Skill, int, Offset) string { return "" }

// A performance is a skill being executed in an environment.
type performance struct {
	env    tools.Env
	scene  scene
	steps  int
	reward float64
	last   tools.Step
}

// perform makes the skill's calls. A precondition that does not hold, and a
// call that does not lead where it should, is the agent's mistake. What it
// answers is the last result, and how many calls were made.
func (p *performance) perform(ctx context.Context, s *Skill) (any, error) {
	if lack := p.scene.lacks(s); lack != "" {
		return nil, tools.Mistakef("%s%s does not apply: %s", Prefix, s.Name, lack)
	}
	mark := p.scene.mark()
	for i := range s.Actions {
		call, err := p.scene.prepare(s, i)
		if err != nil {
			return nil, err
		}
		if p.last, err = p.env.Step(ctx, call); err != nil {
			return nil, err
		}
		p.steps++
		p.reward += p.last.Reward
		if p.last.Result.IsError {
			return nil, tools.Mistakef("%s%s stopped after %d of %d calls: %s", Prefix, s.Name, p.steps, len(s.Actions), p.last.Result.Content)
		}
		if err := p.scene.observe(p.last.Result.Content); err != nil {
			return nil, err
		}
		if wrong := p.scene.strays(s, i, mark); wrong != "" {
			return nil, tools.Mistakef("%s%s stopped after %d of %d calls: %s", Prefix, s.Name, p.steps, len(s.Actions), wrong)
		}
		if p.last.Done() {
			break
		}
	}
	return p.answer()
}

// answer is the last result with the number of calls made.
func (p *performance) answer() (any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(p.last.Result.Content, &fields); err != nil {
		return nil, fmt.Errorf("reading the last result of a skill: %w", err)
	}
	fields["calls_made"] = json.RawMessage(fmt.Sprint(p.steps))
	return fields, nil
}

// outcome is the macro as one step.
func (p *performance) outcome(call tools.Call, result tools.Result) tools.Step {
	switch {
	case p.last.Terminated:
		return tools.Termination(call, result, p.reward)
	case p.last.Truncated:
		return tools.Truncation(call, result, p.reward)
	}
	return tools.Transition(call, result, p.reward)
}
