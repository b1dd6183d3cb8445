package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"toolgym/internal/strictjson"
)

// A Tool is one action that an agent can call. It is made by [New] or
// [Declare]; its JSON form is the function form of chat protocols,
// {"type":"function","function":{"name","description","parameters"}}.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // the JSON Schema of the arguments, an object's

	schema *schema
	handle func(ctx context.Context, arguments json.RawMessage, value any) (any, error)
}

// New makes a tool whose schema is that of In, a struct. It guarantees that
// do sees only arguments that are valid against the whole schema, and that what
// it returns is encoded as the result's content; an error made by [Mistakef]
// becomes an error result, any other error is returned by [Tool.Call] as it is.
// With a nil do the tool only declares itself until [Bind] gives it a handler.
//
// New panics if In is no struct or has a field that no schema can describe:
// the mistake is in the program and shows on its first run.
func New[In, Out any](name, description string, do func(context.Context, In) (Out, error)) Tool {
	parameters, err := reflectSchema(reflect.TypeFor[In]())
	if err != nil {
		panic(fmt.Sprintf("tools.New(%q): %v", name, err))
	}
	t, err := Declare(name, description, parameters)
	if err != nil {
		panic(fmt.Sprintf("tools.New(%q): %v", name, err))
	}
	if do == nil {
		return t
	}
	return Bind(t, do)
}

// Bind returns the tool with another handler. The schema stays the tool's own,
// so In must be the type that it was made from.
func Bind[In, Out any](t Tool, do func(context.Context, In) (Out, error)) Tool {
	t.handle = func(ctx context.Context, arguments json.RawMessage, value any) (any, error) {
		in, err := decode[In](arguments, value)
		if err != nil {
			return nil, fmt.Errorf("decoding arguments of %s: %w", t.Name, err)
		}
		return do(ctx, in)
	}
	return t
}

// Declare makes a tool without a handler from a schema that came from
// elsewhere. Only references inside the schema are followed: a $ref to a file or
// a host is refused, and nothing is opened. So is a schema that is over one of
// the bounds above.
func Declare(name, description string, parameters json.RawMessage) (Tool, error) {
	if strings.TrimSpace(name) == "" {
		return Tool{}, &Error{Code: Invalid, Where: "/name", Message: "a tool has no name", Want: "a name"}
	}
	if len(name) > maxToolName {
		return Tool{}, tooMuch("/name", fmt.Sprintf("the name has %d bytes", len(name)), maxToolName)
	}
	s, err := compile(parameters)
	if err != nil {
		return Tool{}, err
	}
	return Tool{Name: name, Description: description, Parameters: parameters, schema: s}, nil
}

// Callable reports whether the tool has a handler of its own.
func (t Tool) Callable() bool { return t.handle != nil }

// Call checks the arguments and runs the handler. Invalid arguments give an
// error result that names every violation, and the handler is not reached.
func (t Tool) Call(ctx context.Context, arguments json.RawMessage) (Result, error) {
	if t.handle == nil {
		return Result{}, &Error{Code: Conflict, Message: fmt.Sprintf("tool %q has no handler here", t.Name), Want: "a call within an episode"}
	}
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	value, violations, err := t.check(ctx, arguments)
	if err != nil {
		return Result{}, err
	}
	if len(violations) > 0 {
		return fail(explain(t.Name, violations)), nil
	}
	out, err := t.handle(ctx, arguments, value)
	if m, ok := errors.AsType[*mistake](err); ok {
		return fail(m.message), nil
	}
	if err != nil {
		return Result{}, err
	}
	return encode(out)
}

// Validate checks arguments, given as JSON text, against the schema and
// returns its violations in order, at most 100. Text that is no JSON is one
// violation, keyword "json"; arguments that take more than [MaxSteps] to be
// checked are one, keyword "steps".
func (t Tool) Validate(arguments json.RawMessage) []Violation {
	_, violations, _ := t.check(context.Background(), arguments) // which does not end
	return violations
}

// ValidateValue is Validate for a value that [strictjson.Decode] has read.
func (t Tool) ValidateValue(value any) []Violation {
	violations, _ := t.validate(context.Background(), value) // which does not end
	return violations
}

// validate takes at most MaxSteps. The error is the context's.
func (t Tool) validate(ctx context.Context, value any) ([]Violation, error) {
	left := MaxSteps
	violations, err := t.ValidateWithin(ctx, &left, value)
	if e, ok := errors.AsType[*Error](err); ok {
		return []Violation{{Keyword: "steps", Message: e.Message}}, nil
	}
	return violations, err
}

// ValidateWithin is ValidateValue within a number of steps, from which those
// that the value takes are taken. The error, an [*Error] with the code
// [TooLarge], says that it takes more than are left or more than [MaxSteps]; it
// depends on nothing but the schema, the value and the steps. A nil left means
// no bound, for schemas of the program's own. Any other error is the context's:
// no value is begun after its end, and its steps are counted no further.
func (t Tool) ValidateWithin(ctx context.Context, left *int, value any) ([]Violation, error) {
	return t.schema.violations(ctx, value, left)
}

// Weight is how much memory the compiled schema takes, in units of at most 1 KiB,
// the weight of a subschema.
func (t Tool) Weight() int {
	if t.schema == nil {
		return 0
	}
	return t.schema.weight
}

func (t Tool) check(ctx context.Context, arguments json.RawMessage) (any, []Violation, error) {
	value, err := strictjson.Decode(arguments)
	if err != nil {
		return nil, []Violation{{Keyword: "json", Message: err.Error()}}, nil //nolint:nilerr // it is the violation
	}
	violations, err := t.validate(ctx, value)
	return value, violations, err
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type wireTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// MarshalJSON writes the function form.
func (t Tool) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireTool{"function", function{t.Name, t.Description, t.Parameters}})
}

// received is a tool as others write it. Strict is a wish to a serving layer;
// it changes nothing about what arguments are valid.
type received struct {
	function
	Strict *bool `json:"strict"`
}

// misfit says why JSON is no tool, in JSON's words and not in Go's.
func misfit(err error) string {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return strings.TrimPrefix(err.Error(), "json: ")
	case e.Field == "":
		return "got " + e.Value + ", want object"
	}
	return "got " + e.Value + " as " + e.Field[strings.LastIndex(e.Field, ".")+1:] // before it stand the types that are embedded
}

// UnmarshalJSON reads the function form, with or without its outer
// {"type","function"}, and compiles the schema. Unknown fields are refused: a
// misspelt "parameters" would be a tool without any.
func (t *Tool) UnmarshalJSON(data []byte) error {
	var w struct {
		Type     string    `json:"type"`
		Function *received `json:"function"`
		received
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return &Error{Code: Invalid, Message: "this is no tool: " + misfit(err), Want: `{"type":"function","function":{"name","description","parameters"}}`}
	}
	f, where := w.function, ""
	switch {
	case w.Type != "" && w.Type != "function":
		return &Error{Code: Invalid, Where: "/type", Message: fmt.Sprintf("a tool of type %q", clip(w.Type)), Want: "function"}
	case w.Function != nil && (f.Name != "" || f.Parameters != nil):
		return &Error{Code: Invalid, Where: "/function", Message: "the tool is declared twice", Want: "either function, or name and parameters"}
	case w.Function != nil:
		f, where = w.Function.function, "/function"
	}
	if len(f.Parameters) == 0 || string(f.Parameters) == "null" {
		f.Parameters = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	declared, err := Declare(f.Name, f.Description, f.Parameters)
	if e, ok := errors.AsType[*Error](err); ok {
		e.Where = where + e.Where
	}
	if err != nil {
		return err
	}
	*t = declared
	return nil
}
