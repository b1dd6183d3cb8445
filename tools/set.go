package tools

import (
	"context"
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

// Call runs the named tool. An unknown name is the agent's mistake and gives an
// error result that lists the names there are.
func (s Set) Call(ctx context.Context, call Call) (Result, error) {
	t, ok := s.Lookup(call.Name)
	if !ok {
		return fail(fmt.Sprintf("unknown tool %q; the tools are %s", clip(call.Name), strings.Join(s.Names(), ", "))), nil
	}
	return t.Call(ctx, call.Arguments)
}

// clip bounds what is quoted back of a hostile name.
func clip(s string) string { return clipTo(s, maxQuoted) }
