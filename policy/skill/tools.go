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

// Prefix is the prefix of a skill's name as a tool.
const Prefix = "skill_"

// MaxTools is how many skills are offered as tools at the most: those that
// succeeded most often, then those that were found most often. A tool list of
// hundreds would help no model.
const MaxTools = 32

// AddTools adds the skills of a library to an environment as tools: after its
// own tools, skill_NAME makes the calls of the skill NAME. They are tools like
// all others: over REST, for Ollama, for langchaingo. A call of a skill that
// does not apply is an error result that names the precondition, and spends a
// step; one that applies spends one step per call, and its reward is the sum.
// Skills of one call and retired skills are not added. The library is read
// once.
func AddTools(spec tools.Spec, library *Library) tools.Spec {
	macros := macrosOf(spec.Name, library)
	if len(macros) == 0 {
		return spec
	}
	base := spec
	spec.Tools = func(rules, level string) tools.Set { return extend(base, macros, rules, level) }
	spec.New = func() tools.Env { return wrapEnv(base, macros, base.New()) }
	return spec
}

// A macro is a skill as a tool.
type macro struct {
	Skill
	tool tools.Tool
}

// nothing is the type of arguments of every macro.
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
	return macros[:min(len(macros), MaxTools)]
}

// describe is the description for a model: what the macro does and when it can
// be called.
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

// placeOf returns the place at which a flag is gained.
func placeOf(flag string) string {
	return map[string]string{hasKey: "key", doorOpen: "door", atGoal: "goal"}[flag]
}

// extend returns the tools of a level with the macros whose tools it has.
func extend(base tools.Spec, macros []macro, rules, level string) tools.Set {
	set := base.Tools(rules, level)
	if set == nil {
		return nil
	}
	set = slices.Clip(set) // it may be shared
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

// wrapEnv adds macros to an environment and keeps its optional interfaces.
func wrapEnv(base tools.Spec, macros []macro, env tools.Env) tools.Env {
	o := &envWithSkills{Env: env, base: base, macros: macros}
	speaker, speaks := env.(tools.Speaker)
	drawing, draws := env.(drawer)
	switch {
	case speaks && draws:
		return struct {
			*envWithSkills
			tools.Speaker
			drawer
		}{o, speaker, drawing}
	case speaks:
		return struct {
			*envWithSkills
			tools.Speaker
		}{o, speaker}
	case draws:
		return struct {
			*envWithSkills
			drawer
		}{o, drawing}
	}
	return o
}

// drawer is an environment that draws itself.
type drawer interface {
	Text() string
	SVG() string
}

// envWithSkills is an environment with macros.
type envWithSkills struct {
	tools.Env
	base         tools.Spec
	macros       []macro
	set          tools.Set
	episodeState episodeState
}

var _ tools.Env = (*envWithSkills)(nil)

func (o *envWithSkills) Tools() tools.Set { return o.set }

func (o *envWithSkills) Reset(ctx context.Context, task tools.Task) (json.RawMessage, error) {
	observation, err := o.Env.Reset(ctx, task)
	if err != nil {
		return nil, err
	}
	o.set = extend(o.base, o.macros, task.Rules, task.Level)
	o.episodeState, err = newEpisodeState(task, observation)
	return observation, err
}

// Step makes a call, or the calls of a macro. The environment counts the steps,
// including those of invalid calls.
func (o *envWithSkills) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if _, own := o.Env.Tools().Lookup(call.Name); own || o.episodeState == nil {
		step, err := o.Env.Step(ctx, call)
		if err == nil && !step.Result.IsError && o.episodeState != nil {
			err = o.episodeState.observe(step.Result.Content)
		}
		return step, err
	}
	p := execution{env: o.Env, episodeState: o.episodeState}
	result, err := o.call(ctx, call, &p)
	if err != nil {
		return tools.Step{}, err
	}
	if p.steps == 0 { // an invalid call spends a step
		step, err := o.Env.Step(ctx, call)
		if err == nil {
			step.Result = result
		}
		return step, err
	}
	return p.asStep(call, result), nil
}

// call validates the arguments before the skill is executed.
func (o *envWithSkills) call(ctx context.Context, call tools.Call, p *execution) (tools.Result, error) {
	i := slices.IndexFunc(o.macros, func(m macro) bool { return m.tool.Name == call.Name })
	if _, offered := o.set.Lookup(call.Name); i < 0 || !offered {
		return o.set.Call(ctx, call) // lists the tools
	}
	m := &o.macros[i]
	return tools.Bind(m.tool, func(ctx context.Context, _ nothing) (any, error) { return p.execute(ctx, &m.Skill) }).Call(ctx, call.Arguments)
}

// An episodeState is what is known about a running episode, from the prompt and
// the results of tools.
type episodeState interface {
	// observe reads the result of a tool.
	observe(content json.RawMessage) error
	// unmetPrecondition returns the first precondition that does not hold; "" if all hold.
	unmetPrecondition(s *Skill) string
	// callAt returns the i-th call of a skill with its numbers.
	callAt(s *Skill, i int) (tools.Call, error)
	// mismatch returns how the effect of the i-th call of a skill differs from the
	// expected one, seen from the mark; "" if it does not.
	mismatch(s *Skill, i int, mark Offset) string
	// mark returns the place at the start of a skill.
	mark() Offset
}

// newEpisodeState returns the state of an episode; nil for an environment
// without skills.
func newEpisodeState(task tools.Task, observation json.RawMessage) (episodeState, error) {
	switch task.Env {
	case gridworldName:
		v, err := newGridView(task, observation)
		return &gridState{gridView: v}, err
	case arithmeticName:
		e, _ := expressionOf(task) // the empty expression matches no shape
		return &arithmeticState{expression: e}, nil
	}
	return nil, nil
}

// gridState is the state of a gridworld episode.
type gridState struct {
	*gridView
	note string // of the last result
}

func (g *gridState) observe(content json.RawMessage) error {
	s, err := g.update(content)
	g.note = s.Note
	return err
}

func (g *gridState) mark() Offset { return g.agent }

func (g *gridState) unmetPrecondition(s *Skill) string {
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

func (g *gridState) callAt(s *Skill, i int) (tools.Call, error) { return s.Actions[i], nil }

func (g *gridState) mismatch(s *Skill, i int, mark Offset) string {
	last := i == len(s.Actions)-1
	switch {
	case len(s.Path) > 0 && g.agent != mark.plus(s.Path[i]):
		return fmt.Sprintf("the agent is at %s and should be at %s: %s", cell(g.agent), cell(mark.plus(s.Path[i])), g.note)
	case last && s.Gains != "" && !g.flags()[s.Gains]:
		return fmt.Sprintf("%s is not true: %s", s.Gains, g.note)
	}
	return ""
}

// arithmeticState is the state of an arithmetic episode.
type arithmeticState struct {
	expression
	results []string // of the calls of the running macro
}

func (s *arithmeticState) observe(content json.RawMessage) error {
	number, err := resultOf(content)
	s.results = append(s.results, number)
	return err
}

func (s *arithmeticState) mark() Offset {
	s.results = nil
	return Offset{}
}

func (s *arithmeticState) unmetPrecondition(skill *Skill) string {
	if skill.Shape != s.shape {
		return fmt.Sprintf("it needs a task that reads %s, and this one reads %s", skill.Shape, s.shape)
	}
	return ""
}

func (s *arithmeticState) callAt(skill *Skill, i int) (tools.Call, error) {
	return fill(skill.Actions[i], s.operands, s.results)
}

func (s *arithmeticState) mismatch(*Skill, int, Offset) string { return "" }

// An execution is the execution of a skill in an environment.
type execution struct {
	env          tools.Env
	episodeState episodeState
	steps        int
	reward       float64
	last         tools.Step
}

// execute makes the skill's calls. A precondition that does not hold, and a
// call with another effect, are mistakes of the agent. It returns the last
// result and the number of calls.
func (p *execution) execute(ctx context.Context, s *Skill) (any, error) {
	if lack := p.episodeState.unmetPrecondition(s); lack != "" {
		return nil, tools.Mistakef("%s%s does not apply: %s", Prefix, s.Name, lack)
	}
	mark := p.episodeState.mark()
	for i := range s.Actions {
		call, err := p.episodeState.callAt(s, i)
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
		if err := p.episodeState.observe(p.last.Result.Content); err != nil {
			return nil, err
		}
		if wrong := p.episodeState.mismatch(s, i, mark); wrong != "" {
			return nil, tools.Mistakef("%s%s stopped after %d of %d calls: %s", Prefix, s.Name, p.steps, len(s.Actions), wrong)
		}
		if p.last.Done() {
			break
		}
	}
	return p.answer()
}

// answer returns the last result with the number of calls.
func (p *execution) answer() (any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(p.last.Result.Content, &fields); err != nil {
		return nil, fmt.Errorf("reading the last result of a skill: %w", err)
	}
	fields["calls_made"] = json.RawMessage(fmt.Sprint(p.steps))
	return fields, nil
}

// asStep returns the macro as one step.
func (p *execution) asStep(call tools.Call, result tools.Result) tools.Step {
	switch {
	case p.last.Terminated:
		return tools.Termination(call, result, p.reward)
	case p.last.Truncated:
		return tools.Truncation(call, result, p.reward)
	}
	return tools.Transition(call, result, p.reward)
}
