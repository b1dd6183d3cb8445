package skill

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolgym/tools"
)

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
