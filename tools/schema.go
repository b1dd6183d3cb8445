package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	reflector "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
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
	flat     *flat // nil where the schema is not flat
}

const schemaURL = "urn:toolgym:parameters"

// noLoader refuses to open anything: a schema may only refer to itself.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %q leaves the schema", url)
}

func compile(text json.RawMessage) (*schema, error) {
	refused := func(err error) error {
		if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
			return unschematic(e.Err)
		}
		return &Error{Code: Invalid, Where: "/parameters", Message: strings.ReplaceAll(err.Error(), "\n", " "),
			Want: "a JSON Schema (draft 2020-12) of an object, without references to other documents"}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, refused(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, refused(err)
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, refused(err)
	}
	if compiled.Types != nil && !compiled.Types.IsEmpty() && !strings.Contains(compiled.Types.String(), "object") {
		return nil, refused(errors.New("arguments are an object, the schema admits " + compiled.Types.String()))
	}
	if at := findCircle(compiled); at != "" {
		return nil, refused(fmt.Errorf("the schema at %q refers to itself for the same value", strings.TrimPrefix(at, schemaURL)))
	}
	return &schema{compiled, newFlat(doc)}, nil
}

// unschematic is the error for what is JSON and no schema: it names the place
// that lies deepest, and what may stand there.
func unschematic(err error) error {
	refusal := &Error{Code: Invalid, Where: "/parameters", Message: "it is no JSON Schema", Want: "a JSON Schema (draft 2020-12) of an object"}
	broken, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return refusal
	}
	var list []Violation
	leaves(broken, message.NewPrinter(language.English), &list)
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
