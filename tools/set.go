package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Set is an ordered list of tools. Names match exactly. The order is kept
// wherever the tools are shown, since small models are sensitive to it.
type Set []Tool

// Lookup finds the tool of that exact name.
func (s Set) Lookup(name string) (Tool, bool) {
	for _, t := range s {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Names lists the tools' names in order.
func (s Set) Names() []string {
	names := make([]string, len(s))
	for i, t := range s {
		names[i] = t.Name
	}
	return names
}

// Validate reports a name that stands twice.
func (s Set) Validate() error {
	seen := make(map[string]int, len(s))
	for i, t := range s {
		if first, ok := seen[t.Name]; ok {
			return &Error{Code: Invalid, Where: fmt.Sprintf("/tools/%d", i),
				Message: fmt.Sprintf("tool %q stands already at /tools/%d", t.Name, first), Want: "each name once"}
		}
		seen[t.Name] = i
	}
	return nil
}

// UnmarshalJSON reads a list of tools and compiles their schemas, one by one:
// the place of an error is relative to the list. A list has at most 1,024 tools,
// and a weight of at most 50,000.
func (s *Set) UnmarshalJSON(data []byte) error {
	var texts []json.RawMessage
	if err := json.Unmarshal(data, &texts); err != nil {
		return &Error{Code: Invalid, Message: misfit(err), Want: "a list of tools"}
	}
	if texts == nil {
		return nil // null
	}
	if len(texts) > maxTools {
		return tooMuch("", fmt.Sprintf("%d tools", len(texts)), maxTools)
	}
	set, weight := make(Set, len(texts)), 0
	for i, text := range texts {
		err := set[i].UnmarshalJSON(text)
		if e, ok := errors.AsType[*Error](err); ok {
			e.Where = fmt.Sprintf("/%d%s", i, e.Where)
		}
		if err != nil {
			return err
		}
		if weight += set[i].Weight(); weight > maxSetWeight {
			return tooMuch(fmt.Sprintf("/%d", i), fmt.Sprintf("the schemas up to this tool weigh %d", weight), maxSetWeight)
		}
	}
	*s = set
	return nil
}

// Weight is that of all tools together; see [Tool.Weight].
func (s Set) Weight() int {
	weight := 0
	for _, t := range s {
		weight += t.Weight()
	}
	return weight
}

// Memory is about how many bytes the tools take, estimated from above: their
// texts, and the compiled schemas with what readers make of them. What keeps sets
// counts by it, since a few bytes of a schema may compile to very many.
func (s Set) Memory() int {
	bytes := s.Weight() << 10
	for _, t := range s {
		bytes += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return bytes
}

// Call runs the named tool. An unknown name is the agent's mistake and gives an
// error result that lists the names there are.
func (s Set) Call(ctx context.Context, call Call) (Result, error) {
	t, ok := s.Lookup(call.Name)
	if !ok {
		return fail(fmt.Sprintf("unknown tool %q; the tools are %s", clip(call.Name), s.some())), nil
	}
	return t.Call(ctx, call.Arguments)
}

// some lists the names of the first tools.
func (s Set) some() string {
	more := 0
	names := strings.Join(clipNames(s.Names(), &more), ", ")
	if more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names
}

// clip bounds what is quoted back of a hostile name.
func clip(s string) string { return clipTo(s, maxQuoted) }
