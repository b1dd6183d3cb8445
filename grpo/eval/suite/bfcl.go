package suite

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"toolgym/grpo/match"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// question is a prompt in any of its forms.
type question []tools.Message

func (q *question) UnmarshalJSON(text []byte) error {
	var plain string
	if json.Unmarshal(text, &plain) == nil {
		*q = question{{Role: "user", Content: plain}}
		return nil
	}
	var turns [][]tools.Message
	if json.Unmarshal(text, &turns) == nil && len(turns) > 0 {
		if len(turns) > 1 {
			return refusal.New("/question", "one turn", "a conversation of %d turns", len(turns))
		}
		return q.take(turns[0])
	}
	var messages []tools.Message
	if err := json.Unmarshal(text, &messages); err != nil {
		return refusal.New("/question", "a text, or messages with role and content", "%v", err)
	}
	return q.take(messages)
}

func (q *question) take(messages []tools.Message) error {
	for _, m := range messages {
		if !slices.Contains([]string{"system", "user", "assistant"}, m.Role) {
			return refusal.New("/question", "system, user or assistant", "a message of role %q", m.Role)
		}
	}
	*q = messages
	return nil
}

// functions are the tools in any of their forms.
type functions tools.Set

func (f *functions) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		text = append(append([]byte("["), text...), ']')
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var list []map[string]any
	if err := decoder.Decode(&list); err != nil {
		return refusal.New("/function", "a tool, or a list of tools", "%v", err)
	}
	for _, tool := range list {
		inner, wrapped := tool["function"].(map[string]any)
		if !wrapped {
			inner = tool
		}
		modern(inner["parameters"])
	}
	plain, err := json.Marshal(list)
	if err != nil {
		return refusal.New("/function", "a list of tools", "%v", err)
	}
	var set tools.Set
	if err := json.Unmarshal(plain, &set); err != nil {
		return refusal.Of(err, "a JSON object with id, question, function and ground_truth")
	}
	*f = functions(set)
	return nil
}

// modern rewrites the leaderboard's names of types into JSON Schema's, in
// place and at every depth.
func modern(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	switch s["type"] {
	case "dict":
		s["type"] = "object"
	case "float":
		s["type"] = "number"
	case "tuple":
		s["type"] = "array"
	case "any":
		delete(s, "type")
	}
	if properties, ok := s["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			modern(properties[name])
		}
	}
	modern(s["items"])
	modern(s["additionalProperties"])
}

// groundTruth translates the calls that must be made: of each argument's right
// values the first is the call's own, the others are alternatives, and an empty
// text allows its absence.
func groundTruth(list []map[string]map[string]json.RawMessage) (*match.Expected, error) {
	expected := &match.Expected{Calls: []match.Call{}}
	for i, one := range list {
		if len(one) != 1 {
			return nil, refusal.New("/ground_truth", "one function a call", "call %d names %d functions", i, len(one))
		}
		for name, arguments := range one {
			call, err := rightCall(name, arguments)
			if err != nil {
				return nil, err
			}
			expected.Calls = append(expected.Calls, call)
		}
	}
	return expected, nil
}

func rightCall(name string, arguments map[string]json.RawMessage) (match.Call, error) {
	call := match.Call{Name: name}
	own := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(arguments)) {
		var values []json.RawMessage
		if err := json.Unmarshal(arguments[key], &values); err != nil || len(values) == 0 {
			return call, refusal.New("/ground_truth/"+name+"/"+key, "a list of the right values", "%.80s", arguments[key])
		}
		right := slices.DeleteFunc(slices.Clone(values), func(v json.RawMessage) bool { return string(v) == `""` })
		if len(right) == 0 { // only the empty text: it is the value, and may be left out
			right = values[:1]
		}
		own[key] = right[0]
		m := match.Matcher{Optional: len(right) < len(values) || string(right[0]) == `""`}
		if len(right) > 1 {
			m.OneOf = right[1:]
		}
		if m.Optional || m.OneOf != nil {
			if call.Match == nil {
				call.Match = map[string]match.Matcher{}
			}
			call.Match[key] = m
		}
	}
	text, err := json.Marshal(own)
	call.Arguments = text
	return call, err
}
