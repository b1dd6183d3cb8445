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

// longestWay is the number of moves of the longest way that is kept for its
// own sake; longer ones are composed.
const longestWay = 4

// Extract finds the skills in an episode, whoever played it: the agent of this
// package, a language model, a person. On the gridworld each stretch up to a
// milestone (key, door, goal) gives, with its loops removed, the skill that
// reached the milestone, those that reach it from the last cells of the way, and
// the short ways within. On arithmetic a solved task gives one macro. Nothing
// found is no error; a trajectory of another environment is an [*tools.Error],
// code Invalid.
func Extract(trajectory tools.Trajectory) ([]Skill, error) {
	switch trajectory.Task.Env {
	case gridworldName:
		return extractWays(trajectory)
	case arithmeticName:
		return extractMacro(trajectory)
	}
	return nil, invalid("/task/env", fmt.Sprintf("no skills are made for %.80q", trajectory.Task.Env), "gridworld or arithmetic")
}

// A move is an action and what it led to.
type move struct {
	call     tools.Call
	from, to standing
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
	stretches, v, err := cut(trajectory)
	if err != nil {
		return nil, err
	}
	var found []Skill
	for _, moves := range stretches {
		moves = straighten(moves)
		found = append(found, reaching(v, moves)...)
		found = append(found, leading(v, moves)...)
	}
	return found, nil
}

// cut takes the episode apart: a stretch ends with a milestone, and before a
// step that is no plain action of the environment, such as a macro. The view is that
// of the episode's end.
func cut(trajectory tools.Trajectory) ([][]move, *view, error) {
	v, err := look(trajectory.Task, trajectory.Observation)
	if err != nil {
		return nil, nil, err
	}
	stretches := [][]move{nil}
	for i, step := range trajectory.Steps {
		if step.Call.Name == "" || step.Result.IsError && !strings.HasPrefix(step.Call.Name, Prefix) {
			continue // it changed nothing
		}
		m := move{call: tools.Call{Name: step.Call.Name, Arguments: json.RawMessage("{}")}, from: v.standing()}
		if _, err := v.update(step.Result.Content); err != nil {
			return nil, nil, fmt.Errorf("step %d: %w", i, err)
		}
		m.to = v.standing()
		last := len(stretches) - 1
		if strings.HasPrefix(step.Call.Name, Prefix) {
			stretches = append(stretches, nil)
			continue
		}
		stretches[last] = append(stretches[last], m)
		if m.gains() != "" {
			stretches = append(stretches, nil)
		}
	}
	return stretches, v, nil
}

// straighten removes loops: whatever lies between two moments at which all is
// the same.
func straighten(moves []move) []move {
	var way []move
	reached := map[standing]int{} // how many moves of the way lead there
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

// reaching makes the skills that end with the milestone at the end of a way.
func reaching(v *view, moves []move) []Skill {
	if len(moves) == 0 || moves[len(moves)-1].gains() == "" {
		return nil
	}
	var found []Skill
	for i := range moves {
		if i == 0 || len(moves)-i <= longestWay {
			found = append(found, made(v, moves[i:], moves[len(moves)-1].gains()))
		}
	}
	return found
}

// leading makes the skills that are short ways within a longer one.
func leading(v *view, moves []move) []Skill {
	var found []Skill
	for i := range moves {
		for j := i + 1; j <= min(i+longestWay, len(moves)); j++ {
			if moves[j-1].to.at == moves[j-1].from.at { // no move
				break
			}
			found = append(found, made(v, moves[i:j], ""))
		}
	}
	return found
}

// made makes a skill of moves. A way that gains nothing has no flags as
// preconditions: it was walked under some and works under all.
func made(v *view, moves []move, gains string) Skill {
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

// nameOf says what a skill does and how far away.
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

// An expression is what an arithmetic task asks for.
type expression struct {
	shape    string   // with # for every number
	operands []string // the numbers, as written
}

// expressionOf reads a task's prompt; ok is false where nothing is to be
// computed.
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

// extractMacro makes a macro of an episode that solved its task: its calls,
// with every number replaced by where it came from. Calls that failed are left
// out, and so are those on which the answer does not depend. There is no macro
// in an episode with a number from nowhere: it was computed in the head.
func extractMacro(t tools.Trajectory) ([]Skill, error) {
	e, ok := expressionOf(t.Task)
	if !t.Success || !ok {
		return nil, nil
	}
	w := newWriter(e.operands)
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
	actions, err := w.needed(t.Task.Rules == tools.Sound)
	if err != nil {
		return nil, err
	}
	if len(actions) == 0 || len(actions) > mostActions {
		return nil, nil
	}
	return []Skill{{Name: macroName(actions), Env: arithmeticName, Rules: t.Task.Rules, Preconditions: map[string]bool{},
		Shape: e.shape, Actions: actions, Embedding: shapeEmbedding(e.shape), TimesFound: 1}}, nil
}

// macroName names the operations, and leaves out what only carries numbers.
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

// A source says where a macro takes a number from. It stands in the calls of a
// skill in the number's place, as {"operand":0} or {"result":2}.
type source struct {
	Operand *int `json:"operand,omitempty"` // that number of the task's expression, from 0
	Result  *int `json:"result,omitempty"`  // what that call of the macro answered, from 0
}

// A template is a call whose numbers have sources; texts stay as they are.
type template struct {
	tool      string
	arguments map[string]any // a source or a string
}

// A writer turns the calls of an episode into templates.
type writer struct {
	templates []template
	operands  []value
	results   []value // one for each template; the value is "" where it answered no number
}

// A value is a number that calls may take.
type value struct {
	text string
	used bool
}

func newWriter(operands []string) *writer {
	w := &writer{}
	for _, text := range operands {
		w.operands = append(w.operands, value{text: text})
	}
	return w
}

// add takes a step over; it reports false where a value has no source, or the
// step is no plain call.
func (w *writer) add(step tools.Step) (known bool, err error) {
	var arguments map[string]any
	if err := decodeNumbers(step.Call.Arguments, &arguments); err != nil {
		return false, fmt.Errorf("reading arguments: %w", err)
	}
	t := template{tool: step.Call.Name, arguments: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(arguments)) {
		switch v := arguments[key].(type) {
		case json.Number:
			from, found := w.locate(v.String())
			if !found {
				return false, nil
			}
			t.arguments[key] = from
		case string:
			t.arguments[key] = v
			if strings.ContainsAny(v, "0123456789") {
				return false, nil // it is about this task's numbers
			}
		default:
			return false, nil
		}
	}
	number, err := resultOf(step.Result.Content)
	w.templates, w.results = append(w.templates, t), append(w.results, value{text: number})
	return !strings.HasPrefix(t.tool, Prefix), err
}

// locate finds where a number came from. What was not used yet goes first, and
// then results, the latest first, before the operands from the left: this is how
// an expression is worked off, and it tells apart values that are equal by accident.
func (w *writer) locate(number string) (source, bool) {
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

// needed are the calls of the macro. With prune those are left out on which the
// last one does not depend: results that nothing takes, and what was stored
// and not recalled.
func (w *writer) needed(prune bool) ([]tools.Call, error) {
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

// calls writes the templates that are kept, with their results numbered anew.
func (w *writer) calls(keep []bool) ([]tools.Call, error) {
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

// fill puts numbers in the places of sources. It reports, as the agent's
// mistake, a number that is not there.
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
			return call, tools.Mistakef("%s: there is no number for %s from %s", call.Name, key, text)
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

// resultOf is the number that a tool answered, "" where it answered none.
func resultOf(content json.RawMessage) (string, error) {
	var answer struct {
		Result json.Number `json:"result"`
	}
	if err := json.Unmarshal(content, &answer); err != nil {
		return "", fmt.Errorf("reading a result: %w", err)
	}
	return answer.Result.String(), nil
}

// decodeNumbers decodes an object, with its numbers as they were written.
func decodeNumbers(text json.RawMessage, into *map[string]any) error {
	if len(text) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}
