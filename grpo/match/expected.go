package match

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// What happens with calls that nothing expects.
const (
	Forbid = "forbid" // none may be left over (the default)
	Divide = "divide" // credit is divided by one more than their number
	Allow  = "allow"  // they are ignored
)

// The bounds of the comparison.
const (
	maxExpected = 256  // calls that a task may expect, alternatives of a value, members of a set
	maxMade     = 1024 // calls made that are compared
)

// Expected is what a right completion does. Calls is nil where the calls do not
// matter, and empty where none may be made.
type Expected struct {
	Calls  []Call             `json:"calls"`
	Order  bool               `json:"order,omitempty"`  // the calls must come in this order
	Extra  string             `json:"extra,omitempty"`  // Forbid, Divide or Allow; "" is Forbid
	Match  map[string]Matcher `json:"match,omitempty"`  // by argument, for every call that has or declares it
	Answer *Answer            `json:"answer,omitempty"` // nil where the answer does not matter
}

// A Call is one expected call. Arguments is a JSON object; absent means {}.
type Call struct {
	Name      string             `json:"name"`
	Arguments json.RawMessage    `json:"arguments,omitempty"`
	Match     map[string]Matcher `json:"match,omitempty"` // by argument; goes before Expected.Match
}

// A Plan is an Expected made ready for comparing. It is safe for concurrent
// use. The zero Plan asks for nothing.
type Plan struct {
	calls  []call
	any    bool // the calls do not matter
	order  bool
	extra  string
	answer *answer
}

// call is one expected call, decoded. The arguments are sorted by name.
type call struct {
	name      string
	arguments []argument
	optional  map[string]any // the declared defaults of the tool's optional arguments
	given     tools.Call
}

// argument is what one argument must be: one of values (none: absent), by the
// matcher.
type argument struct {
	name    string
	values  []any
	matcher Matcher
}

// Compile decodes the expected calls and checks that the task can be solved:
// every name is one of the tools', and every call is valid against its schema
// as far as its values are given. The error is a [*tools.Error].
func (e Expected) Compile(set tools.Set) (*Plan, error) {
	return e.CompileFor(context.Background(), Offer(set))
}

// CompileFor is Compile for tools that many tasks share. It ends with the context,
// whose error it returns then.
func (e Expected) CompileFor(ctx context.Context, o *Offered) (*Plan, error) {
	p := &Plan{any: e.Calls == nil, order: e.Order, extra: e.Extra}
	switch e.Extra {
	case "":
		p.extra = Forbid
	case Forbid, Divide, Allow:
	default:
		return nil, refusal.New("/extra", "forbid, divide or allow", "unknown value %q", e.Extra)
	}
	if len(e.Calls) > maxExpected {
		return nil, refusal.New("/calls", fmt.Sprintf("at most %d", maxExpected), "%d expected calls", len(e.Calls))
	}
	if p.any && e.Answer == nil {
		return nil, refusal.New("", "calls or an answer", "nothing is expected")
	}
	used, left := map[string]bool{}, 10*tools.MaxSteps
	for i, c := range e.Calls {
		compiled, err := c.compile(ctx, o, e.Match, used, &left)
		if err != nil {
			return nil, refusal.Below(fmt.Sprintf("/calls/%d", i), err)
		}
		p.calls = append(p.calls, compiled)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Match)) {
		if !used[name] {
			return nil, refusal.New("/match/"+name, "an argument of one of the calls", "no expected call has an argument %q", name)
		}
	}
	if e.Answer == nil {
		return p, nil
	}
	answer, err := e.Answer.compile()
	p.answer = answer
	return p, refusal.Below("/answer", err)
}

// NeedsCall reports whether the task cannot be solved without a call.
func (p *Plan) NeedsCall() bool { return len(p.calls) > 0 }

// Needed is the number of calls that the task expects.
func (p *Plan) Needed() int { return len(p.calls) }

func (c Call) compile(ctx context.Context, o *Offered, shared map[string]Matcher, used map[string]bool, left *int) (call, error) {
	tool, ok := o.set.Lookup(c.Name)
	if !ok {
		return call{}, refusal.New("/name", offers(o.set), "no tool is named %q", c.Name)
	}
	given, err := decodeObject(c.Arguments)
	if err != nil {
		return call{}, refusal.Below("/arguments", err)
	}
	declared := o.declared[c.Name]
	for _, name := range slices.Sorted(maps.Keys(c.Match)) {
		if _, isGiven := given[name]; !isGiven && declared.all && !declared.names[name] {
			return call{}, refusal.New("/match/"+name, "one of its arguments: "+strings.Join(slices.Sorted(maps.Keys(declared.names)), ", "), "%s has no argument %.80q", c.Name, name)
		}
	}
	matchers := maps.Clone(c.Match)
	if matchers == nil {
		matchers = map[string]Matcher{}
	}
	for name, m := range shared {
		_, isGiven := given[name]
		if isGiven || declared.names[name] {
			used[name] = true
			if _, own := matchers[name]; !own {
				matchers[name] = m
			}
		}
	}
	compiled := call{name: c.Name, optional: declared.defaults, given: tools.Call{Name: c.Name, Arguments: c.Arguments}}
	for _, name := range names(given, matchers) {
		a, err := newArgument(name, given, matchers[name])
		if err != nil {
			return call{}, refusal.Below("/match/"+name, err)
		}
		compiled.arguments = append(compiled.arguments, a)
	}
	return compiled, solvable(ctx, tool, given, matchers, left)
}

// offers says what may be called.
func offers(set tools.Set) string {
	if len(set) == 0 {
		return "declared tools"
	}
	return "one of " + strings.Join(set.Names(), ", ")
}

// solvable refuses an expected call that its own schema refuses: no valid call
// could ever match it. Arguments that a matcher leaves open are not judged.
func solvable(ctx context.Context, tool tools.Tool, given map[string]any, matchers map[string]Matcher, left *int) error {
	if len(matchers) > 0 {
		return nil
	}
	violations, err := tool.ValidateWithin(ctx, left, any(given))
	if e, ok := errors.AsType[*tools.Error](err); ok {
		return refusal.New("/arguments", e.Want, "%s", e.Message)
	}
	if err != nil {
		return err
	}
	for _, v := range violations {
		return refusal.New("/arguments"+v.Pointer, "arguments that the tool's schema admits", "%s", v.Message)
	}
	return nil
}

func newArgument(name string, given map[string]any, m Matcher) (argument, error) {
	a := argument{name: name, matcher: m}
	if value, ok := given[name]; ok {
		a.values = append(a.values, value)
	}
	if err := m.check(); err != nil {
		return a, err
	}
	for i, text := range m.OneOf {
		value, err := strictjson.Decode(text)
		if err != nil {
			return a, refusal.New(fmt.Sprintf("/one_of/%d", i), "a JSON value", "%v", err)
		}
		a.values = append(a.values, value)
	}
	return a, nil
}

func names(given map[string]any, matchers map[string]Matcher) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(given)), maps.Keys(matchers))
	slices.Sort(all)
	return slices.Compact(all)
}

func decodeObject(text json.RawMessage) (map[string]any, error) {
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	value, err := strictjson.Decode(text)
	if err != nil {
		return nil, refusal.New("", "a JSON object", "%v", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, refusal.New("", "a JSON object", "the arguments are none")
	}
	return object, nil
}

// Expected is the expected call of that index, as it was given.
func (p *Plan) Expected(i int) tools.Call { return p.calls[i].given }
