package tools

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	reflector "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// reflectSchema writes the closed schema of a struct type.
func reflectSchema(t reflect.Type) (json.RawMessage, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("arguments must be a struct, not %s", t)
	}
	r := reflector.Reflector{DoNotReference: true, Anonymous: true, Mapper: exactNumber}
	s := r.ReflectFromType(t)
	s.Version = "" // every schema here is draft 2020-12, and models see fewer tokens
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("writing the schema of %s: %w", t, err)
	}
	return text, nil
}

// exactNumber lets json.Number stand for any JSON number, digits kept.
func exactNumber(t reflect.Type) *reflector.Schema {
	if t == reflect.TypeFor[json.Number]() {
		return &reflector.Schema{Type: "number"}
	}
	return nil
}

// A schema is compiled once and shared by every copy of its tool.
type schema struct {
	compiled *jsonschema.Schema
	graph    *graph
	flat     *flat // nil where the schema is not flat
	weight   int   // of what it holds in memory, a subschema being 1
}

const schemaURL = "urn:toolgym:parameters"

// noLoader refuses to open anything: a schema may only refer to itself.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %q leaves the schema", url)
}

// compile makes a schema ready, within the bounds of limits.go.
func compile(text json.RawMessage) (*schema, error) {
	document, outline, err := readSchema(text)
	if err != nil {
		return nil, unreadable(err)
	}
	expressions := &patterns{known: map[string]*pattern{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(expressions.compile)
	if err := c.AddResource(schemaURL, document); err != nil {
		return nil, unreadable(err)
	}
	compiled, err := c.Compile(schemaURL)
	if tooLarge := expressions.refused; tooLarge != nil {
		return nil, tooLarge
	}
	if err != nil {
		return nil, uncompiled(err)
	}
	if compiled.Types != nil && !compiled.Types.IsEmpty() && !strings.Contains(compiled.Types.String(), "object") {
		return nil, unreadable(errors.New("arguments are an object, the schema admits " + compiled.Types.String()))
	}
	g, err := measure(c, compiled, outline.dynamic)
	if err != nil {
		return nil, err
	}
	expressions.sealed.Store(true)
	weight := outline.subschemas + outline.values/8 + len(g.nodes) + outline.enum/8 + expressions.program/8 + len(text)/256
	return &schema{compiled, g, newFlat(document), weight}, nil
}

// measure makes the graph of a schema. Dynamic has pointers to the schemas in
// the document that dynamic references can lead to.
func measure(c *jsonschema.Compiler, root *jsonschema.Schema, dynamic []string) (*graph, error) {
	var leadsTo []*jsonschema.Schema
	for _, pointer := range dynamic {
		if s, err := c.Compile(schemaURL + "#" + url.PathEscape(pointer)); err == nil {
			leadsTo = append(leadsTo, s) // else it is no schema, and no reference leads there
		}
	}
	for {
		at, order := findCircle(root, leadsTo)
		if at != "" {
			return nil, unreadable(fmt.Errorf("the schema at %q refers to itself for the same value", strings.TrimPrefix(at, schemaURL)))
		}
		before := len(leadsTo)
		for _, s := range order { // the schemas of JSON Schema itself are in other documents
			if (s.DynamicAnchor != "" || s.RecursiveAnchor) && !slices.Contains(leadsTo, s) {
				leadsTo = append(leadsTo, s)
			}
		}
		if len(leadsTo) == before {
			return newGraph(root, order, leadsTo)
		}
	}
}

// uncompiled is the error for what the compiler refuses.
func uncompiled(err error) error {
	if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		return unschematic(e.Err)
	}
	return unreadable(err)
}

// unschematic is the error for what is JSON and no schema: it names the place
// that lies deepest, and what may stand there.
func unschematic(err error) error {
	refusal := &Error{Code: Invalid, Where: "/parameters", Message: "it is no JSON Schema", Want: "a JSON Schema (draft 2020-12) of an object"}
	broken, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return refusal
	}
	list := leaves(broken, -1)
	deepest := slices.MaxFunc(list, func(a, b Violation) int {
		return cmp.Compare(strings.Count(a.Pointer, "/"), strings.Count(b.Pointer, "/"))
	})
	var said []string
	for _, v := range list {
		if v.Pointer == deepest.Pointer && !slices.Contains(said, v.Message) {
			said = append(said, v.Message)
		}
	}
	slices.Sort(said)
	refusal.Where, refusal.Message = "/parameters"+deepest.Pointer, strings.Join(said, ", or ")
	return refusal
}
