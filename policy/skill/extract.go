package skill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"toolgym/tools"
)

// longestWay is the maximum number of moves of a skill that only moves; longer
// ways are composed.
const longestWay = 4

// Extract finds the skills in an episode of any agent: of this package, a
// language model, a person. On the gridworld each segment up to a milestone
// (key, door, goal) gives, with its loops removed, the skill that reached the
// milestone, those that reach it from the last cells of the way, and the short
// moves within. On arithmetic a solved task gives one macro. An episode without
// skills is no error; a trajectory of another environment is a [*tools.Error]
// with code invalid.
func Extract(trajectory tools.Trajectory) ([]Skill, error) {
	switch trajectory.Task.Env {
	case gridworldName:
		return extractWays(trajectory)
	case arithmeticName:
		return extractMacro(trajectory)
	}
	return nil, invalid("/task/env", fmt.Sprintf("no skills for environment %.80q", trajectory.Task.Env), "gridworld or arithmetic")
}

// A move is an action and its effect.
type move struct {
	call     tools.Call
	from, to gridKey
}

func (m move) gains() string {
	switch {
	case m.to.key && !m.from.key:
		return hasKey
	case m.to.open && !m.from.open:
		return doorOpen
	case m.to.goal && !m.from.goal && m.to.open:
		return atGoal
	}
	return ""
}

func extractWays(trajectory tools.Trajectory) ([]Skill, error) {
	segments, v, err := splitAtMilestones(trajectory)
	if err != nil {
		return nil, err
	}
	var found []Skill
	for _, moves := range segments {
		moves = removeLoops(moves)
		found = append(found, milestoneSkills(v, moves)...)
		found = append(found, moveSkills(v, moves)...)
	}
	return found, nil
}

// splitAtMilestones divides the episode into segments: one ends with a
// milestone, and before a step that is not a plain action of the environment,
// such as a macro. The view is that of the end of the episode.
func splitAtMilestones(trajectory tools.Trajectory) ([][]move, *gridView, error) {
	v, err := newGridView(trajectory.Task, trajectory.Observation)
	if err != nil {
		return nil, nil, err
	}
	segments := [][]move{nil}
	for i, step := range trajectory.Steps {
		if step.Call.Name == "" || step.Result.IsError && !strings.HasPrefix(step.Call.Name, Prefix) {
			continue // no effect
		}
		m := move{call: tools.Call{Name: step.Call.Name, Arguments: json.RawMessage("{}")}, from: v.gridKey()}
		if _, err := v.update(step.Result.Content); err != nil {
			return nil, nil, fmt.Errorf("step %d: %w", i, err)
		}
		m.to = v.gridKey()
		last := len(segments) - 1
		if strings.HasPrefix(step.Call.Name, Prefix) {
			segments = append(segments, nil)
			continue
		}
		segments[last] = append(segments[last], m)
		if m.gains() != "" {
			segments = append(segments, nil)
		}
	}
	return segments, v, nil
}

// removeLoops removes the moves between two equal states.
func removeLoops(moves []move) []move {
	var way []move
	reached := map[gridKey]int{} // number of moves that lead there
	for i, m := range moves {
		if i == 0 {
			reached[m.from] = 0
		}
		if n, before := reached[m.to]; before {
			for _, undone := range way[n:] {
				delete(reached, undone.to)
			}
			way = way[:n]
			continue
		}
		way = append(way, m)
		reached[m.to] = len(way)
	}
	return way
}

// milestoneSkills returns the skills that end with the milestone at the end of
// a segment.
func milestoneSkills(v *gridView, moves []move) []Skill {
	if len(moves) == 0 || moves[len(moves)-1].gains() == "" {
		return nil
	}
	var found []Skill
	for i := range moves {
		if i == 0 || len(moves)-i <= longestWay {
			found = append(found, newGridSkill(v, moves[i:], moves[len(moves)-1].gains()))
		}
	}
	return found
}

// moveSkills returns the skills that are short moves within a segment.
func moveSkills(v *gridView, moves []move) []Skill {
	var found []Skill
	for i := range moves {
		for j := i + 1; j <= min(i+longestWay, len(moves)); j++ {
			if moves[j-1].to.at == moves[j-1].from.at { // no move
				break
			}
			found = append(found, newGridSkill(v, moves[i:j], ""))
		}
	}
	return found
}

// newGridSkill makes a skill of moves. A skill that gains no flag has no flags
// as preconditions: it works under all.
func newGridSkill(v *gridView, moves []move, gains string) Skill {
	first := moves[0].from
	then := *v
	then.agent, then.key, then.open = first.at, first.key, first.open
	s := Skill{Env: gridworldName, Preconditions: map[string]bool{}, Gains: gains, TimesFound: 1}
	if gains != "" {
		s.Preconditions = map[string]bool{hasKey: first.key, doorOpen: first.open}
	}
	for _, m := range moves {
		s.Actions = append(s.Actions, m.call)
		s.Path = append(s.Path, m.to.at.minus(first.at))
	}
	s.Name = nameOf(gains, s.end())
	s.Embedding = features(&then, s.end(), gains != "")
	return s
}

// nameOf returns a name that says what a skill does and where.
func nameOf(gains string, end Offset) string {
	name := map[string]string{"": "move", hasKey: "acquire_key", doorOpen: "open_door", atGoal: "reach_goal"}[gains]
	if end == (Offset{}) {
		return name + "_here"
	}
	for _, part := range []struct {
		way   string
		cells int
	}{{"right", end[0]}, {"left", -end[0]}, {"up", end[1]}, {"down", -end[1]}} {
		if part.cells > 0 {
			name += fmt.Sprintf("_%s_%d", part.way, part.cells)
		}
	}
	return name
}

// An expression is the expression of an arithmetic task.
type expression struct {
	shape    string   // with # for every number
	operands []string // the numbers, as written
}

// expressionOf reads the prompt of a task; ok is false if there is nothing to
// compute.
func expressionOf(task tools.Task) (e expression, ok bool) {
	if len(task.Prompt) == 0 {
		return e, false
	}
	found := regexp.MustCompile(`Compute (\S+)\. `).FindStringSubmatch(task.Prompt[len(task.Prompt)-1].Content)
	if found == nil {
		return e, false
	}
	numbers := regexp.MustCompile(`\d+`)
	return expression{shape: numbers.ReplaceAllString(found[1], "#"), operands: numbers.FindAllString(found[1], -1)}, true
}

// extractMacro makes a macro of a solved episode: its calls, with every number
// replaced by its source. Failed calls are left out, and so are calls on which
// the answer does not depend. An episode with a number of unknown source gives
// no macro: the agent computed it itself.
func extractMacro(t tools.Trajectory) ([]Skill, error) {
	e, ok := expressionOf(t.Task)
	if !t.Success || !ok {
		return nil, nil
	}
	w := newMacroBuilder(e.operands)
	for i, step := range t.Steps {
		if step.Call.Name == "" || step.Result.IsError {
			continue
		}
		if known, err := w.add(step); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		} else if !known {
			return nil, nil
		}
	}
	actions, err := w.prunedCalls(t.Task.Rules == tools.Sound)
	if err != nil {
		return nil, err
	}
	if len(actions) == 0 || len(actions) > mostActions {
		return nil, nil
	}
	return []Skill{{Name: macroName(actions), Env: arithmeticName, Rules: t.Task.Rules, Preconditions: map[string]bool{},
		Shape: e.shape, Actions: actions, Embedding: shapeEmbedding(e.shape), TimesFound: 1}}, nil
}

// macroName joins the names of the operations.
func macroName(actions []tools.Call) string {
	words := []string{"answer_by"}
	for _, action := range actions {
		if !slices.Contains([]string{"answer", "store", "recall", "lookup"}, action.Name) {
			words = append(words, action.Name)
		}
	}
	name := strings.Join(words, "_")
	return name[:min(len(name), mostName)]
}

// A source says where a macro takes a number from. In the calls of a skill it
// replaces the number, as {"operand":0} or {"result":2}.
type source struct {
	Operand *int `json:"operand,omitempty"` // that number of the task's expression, from 0
	Result  *int `json:"result,omitempty"`  // what that call of the macro answered, from 0
}

// A template is a call whose numbers are sources; strings are kept.
type template struct {
	tool      string
	arguments map[string]any // a source or a string
}

// A macroBuilder converts the calls of an episode to templates.
type macroBuilder struct {
	templates []template
	operands  []value
	results   []value // one per template; "" without a number
}

// A value is a number that calls may use.
type value struct {
	text string
	used bool
}

func newMacroBuilder(operands []string) *macroBuilder {
	w := &macroBuilder{}
	for _, text := range operands {
		w.operands = append(w.operands, value{text: text})
	}
	return w
}

// add converts a step; it reports false if a value has no source, or the step
// is not a plain call.
func (w *macroBuilder) add(step tools.Step) (known bool, err error) {
	var arguments map[string]any
	if err := decodeNumbers(step.Call.Arguments, &arguments); err != nil {
		return false, fmt.Errorf("reading arguments: %w", err)
	}
	t := template{tool: step.Call.Name, arguments: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(arguments)) {
		switch v := arguments[key].(type) {
		case json.Number:
			from, found := w.sourceOf(v.String())
			if !found {
				return false, nil
			}
			t.arguments[key] = from
		case string:
			t.arguments[key] = v
			if strings.ContainsAny(v, "0123456789") {
				return false, nil // it contains numbers of this task
			}
		default:
			return false, nil
		}
	}
	number, err := resultOf(step.Result.Content)
	w.templates, w.results = append(w.templates, t), append(w.results, value{text: number})
	return !strings.HasPrefix(t.tool, Prefix), err
}

// sourceOf finds the source of a number. Unused values come first, then
// results, the latest first, before operands from the left: that is the order
// of evaluating an expression, and it distinguishes values that are equal by
// coincidence.
func (w *macroBuilder) sourceOf(number string) (source, bool) {
	for _, used := range []bool{false, true} {
		for i := len(w.results) - 1; i >= 0; i-- {
			if v := &w.results[i]; v.text == number && v.used == used {
				v.used = true
				return source{Result: &i}, true
			}
		}
		for i := range w.operands {
			if v := &w.operands[i]; v.text == number && v.used == used {
				v.used = true
				return source{Operand: &i}, true
			}
		}
	}
	return source{}, false
}

// prunedCalls returns the calls of the macro. With prune it leaves out calls on
// which the last one does not depend: results without use, and values that are
// stored and not recalled.
func (w *macroBuilder) prunedCalls(prune bool) ([]tools.Call, error) {
	keep := make([]bool, len(w.templates))
	wantStore := false
	for i := len(w.templates) - 1; i >= 0; i-- {
		t := w.templates[i]
		stores := t.tool == "store" && wantStore
		keep[i] = keep[i] || !prune || i == len(w.templates)-1 || stores
		if !keep[i] {
			continue
		}
		wantStore = wantStore && !stores || t.tool == "recall"
		for _, argument := range t.arguments {
			if from, ok := argument.(source); ok && from.Result != nil {
				keep[*from.Result] = true
			}
		}
	}
	return w.calls(keep)
}

// calls converts the templates that are kept and renumbers their results.
func (w *macroBuilder) calls(keep []bool) ([]tools.Call, error) {
	var calls []tools.Call
	renumbered := make([]int, len(keep))
	for i, t := range w.templates {
		if !keep[i] {
			continue
		}
		renumbered[i] = len(calls)
		for key, argument := range t.arguments {
			if from, ok := argument.(source); ok && from.Result != nil {
				t.arguments[key] = source{Result: &renumbered[*from.Result]}
			}
		}
		text, err := json.Marshal(t.arguments)
		if err != nil {
			return nil, fmt.Errorf("encoding a macro's arguments: %w", err)
		}
		calls = append(calls, tools.Call{Name: t.tool, Arguments: text})
	}
	return calls, nil
}

// fill replaces sources by numbers. A missing number is a mistake of the agent.
func fill(call tools.Call, operands, results []string) (tools.Call, error) {
	var arguments map[string]json.RawMessage
	if len(call.Arguments) > 0 {
		if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
			return call, fmt.Errorf("reading a macro's arguments: %w", err)
		}
	}
	for key, text := range arguments {
		var from source
		if text[0] != '{' {
			continue
		}
		if err := json.Unmarshal(text, &from); err != nil {
			return call, fmt.Errorf("reading a macro's argument %s: %w", key, err)
		}
		number := pick(from.Operand, operands) + pick(from.Result, results)
		if number == "" {
			return call, tools.Mistakef("%s: no number for %s from %s", call.Name, key, text)
		}
		arguments[key] = json.RawMessage(number)
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		return call, fmt.Errorf("encoding arguments: %w", err)
	}
	return tools.Call{ID: call.ID, Name: call.Name, Arguments: text}, nil
}

func pick(i *int, from []string) string {
	if i == nil || *i < 0 || *i >= len(from) {
		return ""
	}
	return from[*i]
}

// resultOf returns the number in the result of a tool; "" without one.
func resultOf(content json.RawMessage) (string, error) {
	var answer struct {
		Result json.Number `json:"result"`
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return "", fmt.Errorf("reading a result: %w", err)
	}
	return answer.Result.String(), nil
}

// decodeNumbers decodes an object and keeps its numbers as text.
func decodeNumbers(text json.RawMessage, into *map[string]any) error {
	if len(text) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}
