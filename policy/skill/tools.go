package skill

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolgym/tools"
)

// Prefix stands before a skill's name where it is a tool.
const Prefix = "skill_"

// MostOffered is how many skills are offered as tools at the most: those that
// succeeded most often, then those that were found most often. A tool list of
// hundreds would help no model.
const MostOffered = 32

// Offer adds the skills of a library to an environment, as tools: skill_NAME
// makes the calls of the skill NAME, after its own tools. They are tools like
// all others, for whoever plays: over REST, for Ollama, for langchaingo. A call of one
// that does not apply is an error result that says which precondition fails,
// and spends a step; one that applies spends as many steps as it makes calls, and
// its reward is their sum. Skills of one call are not offered, since the tool
// that they call is, nor are the retired ones. The library is read now and
// not again.
func Offer(spec tools.Spec, library *Library) tools.Spec {
	macros := macrosOf(spec.Name, library)
	if len(macros) == 0 {
		return spec
	}
	base := spec
	spec.Tools = func(rules, level string) tools.Set { return extend(base, macros, rules, level) }
	spec.New = func() tools.Env { return wrap(base, macros, base.New()) }
	return spec
}

// A macro is a skill as a tool.
type macro struct {
	Skill
	tool tools.Tool
}

// nothing is the arguments of every macro.
type nothing struct{}

func macrosOf(env string, library *Library) []macro {
	var macros []macro
	for _, s := range library.Skills() {
		if s.Env == env && !s.Retired && len(s.Actions) > 1 {
			macros = append(macros, macro{s, tools.New[nothing, any](Prefix+s.Name, s.describe(), nil)})
		}
	}
	slices.SortStableFunc(macros, func(a, b macro) int {
		return cmp.Or(cmp.Compare(b.SuccessCount, a.SuccessCount), cmp.Compare(b.TimesFound, a.TimesFound))
	})
	return macros[:min(len(macros), MostOffered)]
}

// describe tells a model what the macro does and when it may be called.
func (s *Skill) describe() string {
	var names, needs []string
	for _, action := range s.Actions {
		names = append(names, action.Name)
	}
	flags, _ := flagsOf(s.Env)
	for _, flag := range flags {
		if want, ok := s.Preconditions[flag]; ok {
			needs = append(needs, fmt.Sprintf("%s is %t", flag, want))
		}
	}
	end := s.end()
	does := ""
	switch {
	case s.Shape != "":
		does = " with the task's own numbers"
		needs = append(needs, "the task reads "+s.Shape+" with a number for each #")
	case s.Gains != "":
		does = fmt.Sprintf("; then %s is true", s.Gains)
		needs = append(needs, fmt.Sprintf("the %s is at (x%+d,y%+d) from the agent", placeOf(s.Gains), end[0], end[1]))
	case len(s.Path) > 0:
		does = fmt.Sprintf("; it moves the agent to (x%+d,y%+d)", end[0], end[1])
	}
	if len(s.Path) > 0 {
		needs = append(needs, "the cells on the way are free")
	}
	return fmt.Sprintf("A learnt skill of %d calls: %s%s. Preconditions: %s.", len(names), strings.Join(names, ", "), does, cmp.Or(strings.Join(needs, "; "), "none"))
}

// placeOf is the place at which a flag is gained.
func placeOf(flag string) string {
	return map[string]string{hasKey: "key", doorOpen: "door", atGoal: "goal"}[flag]
}

// extend is the set of a level with the macros that it has the tools for.
func extend(base tools.Spec, macros []macro, rules, level string) tools.Set {
	set := base.Tools(rules, level)
	if set == nil {
		return nil
	}
	set = slices.Clip(set) // it may be shared: an append must copy
	known := map[string]bool{}
	for _, t := range set {
		known[t.Name] = true
	}
	for _, m := range macros {
		if (m.Rules == "" || m.Rules == cmp.Or(rules, base.Rules[0])) && !slices.ContainsFunc(m.Actions, func(c tools.Call) bool { return !known[c.Name] }) {
			set = append(set, m.tool)
		}
	}
	return set
}

// wrap keeps what an environment can do beside the contract.
func wrap(base tools.Spec, macros []macro, env tools.Env) tools.Env {
	o := &offering{Env: env, base: base, macros: macros}
	speaker, speaks := env.(tools.Speaker)
	drawing, draws := env.(drawn)
	switch {
	case speaks && draws:
		return struct {
			*offering
			tools.Speaker
			drawn
		}{o, speaker, drawing}
	case speaks:
		return struct {
			*offering
			tools.Speaker
		}{o, speaker}
	case draws:
		return struct {
			*offering
			drawn
		}{o, drawing}
	}
	return o
}

// drawn is an environment that draws itself.
type drawn interface {
	Text() string
	SVG() string
}

// offering is an environment with macros.
type offering struct {
	tools.Env
	base   tools.Spec
	macros []macro
	set    tools.Set
	scene  scene
}

var _ tools.Env = (*offering)(nil)

func (o *offering) Tools() tools.Set { return o.set }

func (o *offering) Reset(ctx context.Context, task tools.Task) (json.RawMessage, error) {
	observation, err := o.Env.Reset(ctx, task)
	if err != nil {
		return nil, err
	}
	o.set = extend(o.base, o.macros, task.Rules, task.Level)
	o.scene, err = setScene(task, observation)
	return observation, err
}

// Step makes a call, or the calls of a macro. The environment itself counts the
// steps, also those of calls that the tools refuse.
func (o *offering) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if _, own := o.Env.Tools().Lookup(call.Name); own || o.scene == nil {
		step, err := o.Env.Step(ctx, call)
		if err == nil && !step.Result.IsError && o.scene != nil {
			err = o.scene.observe(step.Result.Content)
		}
		return step, err
	}
	p := performance{env: o.Env, scene: o.scene}
	result, err := o.call(ctx, call, &p)
	if err != nil {
		return tools.Step{}, err
	}
	if p.steps == 0 { // refused, which spends a step
		step, err := o.Env.Step(ctx, call)
		if err == nil {
			step.Result = result
		}
		return step, err
	}
	return p.outcome(call, result), nil
}

// call has the named tool check the arguments before the skill is performed.
func (o *offering) call(ctx context.Context, call tools.Call, p *performance) (tools.Result, error) {
	i := slices.IndexFunc(o.macros, func(m macro) bool { return m.tool.Name == call.Name })
	if _, offered := o.set.Lookup(call.Name); i < 0 || !offered {
		return o.set.Call(ctx, call) // which says what tools there are
	}
	m := &o.macros[i]
	return tools.Bind(m.tool, func(ctx context.Context, _ nothing) (any, error) { return p.perform(ctx, &m.Skill) }).Call(ctx, call.Arguments)
}

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
