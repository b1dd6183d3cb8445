package api_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolgym/internal/sse"
)

// A contract is the OpenAPI document as a client reads it. It may be used by
// many goroutines.
type contract struct {
	OpenAPI    string                          `json:"openapi"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Responses map[string]response `json:"responses"`
	} `json:"components"`

	text     []byte
	patterns map[string]*regexp.Regexp // of the paths

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by the place in the document
}

type operation struct {
	OperationID string      `json:"operationId"`
	Summary     string      `json:"summary"`
	Parameters  []parameter `json:"parameters"`
	RequestBody struct {
		Content map[string]media `json:"content"`
	} `json:"requestBody"`
	Responses map[string]response `json:"responses"`

	method, path string
	at           string // its place in the document, a JSON pointer
}

type parameter struct {
	Name     string          `json:"name"`
	In       string          `json:"in"`
	Required bool            `json:"required"`
	Schema   json.RawMessage `json:"schema"`
}

type response struct {
	Ref         string           `json:"$ref"`
	Description string           `json:"description"`
	Content     map[string]media `json:"content"`
	Headers     map[string]any   `json:"headers"`
}

type media struct {
	Schema   json.RawMessage    `json:"schema"`
	Item     json.RawMessage    `json:"x-item-schema"`
	Example  json.RawMessage    `json:"example"`
	Examples map[string]example `json:"examples"`
}

// An example of an answer names the request that it answers.
type example struct {
	Summary string          `json:"summary"`
	Value   json.RawMessage `json:"value"`
	Request json.RawMessage `json:"x-request"`
}

func (m media) examples() map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	if len(m.Example) > 0 {
		found[""] = m.Example
	}
	for name, e := range m.Examples {
		found[name] = e.Value
	}
	return found
}

const documentURL = "mem:///openapi.json"

func readContract(t testing.TB, f *fixture) *contract {
	t.Helper()
	return parseContract(t, f.ask("GET", "/openapi.json", "", "X-Request-Id: t").body)
}

func parseContract(t testing.TB, text string) *contract {
	t.Helper()
	c := &contract{text: []byte(text), patterns: map[string]*regexp.Regexp{}, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	if err := json.Unmarshal(c.text, c); err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(documentURL, whole); err != nil {
		t.Fatal(err)
	}
	for path, operations := range c.Paths {
		c.patterns[path] = regexp.MustCompile("^" + regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "[^/]+") + "$")
		for method, op := range operations {
			op.method, op.path, op.at = strings.ToUpper(method), path, "#/paths/"+escaped(path)+"/"+method
			operations[method] = op
		}
	}
	return c
}

// escaped is a name as a token of a JSON pointer in a URI fragment.
func escaped(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
}

// find returns the operation that a request belongs to: a path without
// parameters goes before one with.
func (c *contract) find(method, path string) (operation, bool) {
	if bare, _, _ := strings.Cut(path, "?"); bare != "" {
		path = bare
	}
	if op, ok := c.Paths[path][strings.ToLower(method)]; ok {
		return op, true
	}
	for template, operations := range c.Paths {
		if op, ok := operations[strings.ToLower(method)]; ok && c.patterns[template].MatchString(path) {
			return op, true
		}
	}
	return operation{}, false
}

// responseAt is where the response of a status is in the document.
func (op operation) responseAt(status string) string {
	if ref := op.Responses[status].Ref; ref != "" {
		return ref
	}
	return op.at + "/responses/" + status
}

// response returns the response of a status, wherever it is.
func (c *contract) response(op operation, status int) (r response, at string, ok bool) {
	r, ok = op.Responses[strconv.Itoa(status)]
	if name, shared := strings.CutPrefix(r.Ref, "#/components/responses/"); shared {
		r, ok = c.Components.Responses[name]
	}
	return r, op.responseAt(strconv.Itoa(status)), ok
}

// check reports an answer that the document does not describe.
func (c *contract) check(t testing.TB, method, path string, got answer) {
	t.Helper()
	for _, flaw := range c.breaches(method, path, got) {
		t.Errorf("%s %.200s: %d: %s", method, path, got.status, flaw)
	}
}

// breaches lists what an answer has that the document does not describe.
func (c *contract) breaches(method, path string, got answer) []string {
	asked := method
	if method == http.MethodHead {
		asked = http.MethodGet
	}
	op, known := c.find(asked, path)
	if !known {
		return c.outside(method, path, got)
	}
	declared, at, ok := c.response(op, got.status)
	if !ok {
		return []string{"the status is not documented: " + shortened(got.body)}
	}
	for _, name := range []string{"Location", "Retry-After", "WWW-Authenticate", "X-Request-Id"} {
		if _, ok := declared.Headers[name]; ok && got.header.Get(name) == "" {
			return []string{"there is no header " + name}
		}
	}
	kind, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	switch body, described := declared.Content[kind]; {
	case len(declared.Content) == 0 && got.body == "" && got.header.Get("Content-Type") == "":
		return nil
	case err != nil || !described:
		return []string{fmt.Sprintf("the content type %q is not documented", got.header.Get("Content-Type"))}
	case method == http.MethodHead:
		return nil
	default:
		return c.bodyFlaws(at+"/content/"+escaped(kind), kind, body, got.body)
	}
}

// outside lists what is wrong with an answer to a method that a path has not, or
// at a path that the document has not: a refusal is a problem document there as
// well, but for those of the SDK at /mcp.
func (c *contract) outside(method, path string, got answer) []string {
	switch {
	case got.status < 400 && !strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/mcp"):
		return nil
	case method == http.MethodOptions && got.status == http.StatusNoContent && got.header.Get("Allow") != "" && got.body == "":
		return nil
	case got.status == http.StatusMethodNotAllowed && got.header.Get("Allow") == "":
		return []string{"no Allow"}
	case got.header.Get("Content-Type") != "application/problem+json" || got.status >= 500:
		return []string{"no problem document: " + shortened(got.body)}
	case method == http.MethodHead:
		return nil
	}
	return c.flaws("#/components/schemas/Problem", got.body)
}

// bodyFlaws checks a body by its media type: each line of lines, each event's
// data, every other as one value.
func (c *contract) bodyFlaws(at, kind string, _ media, body string) (flaws []string) {
	switch kind {
	case "application/json", "application/problem+json":
		return c.flaws(at+"/schema", body)
	case "application/x-ndjson":
		for line := range strings.Lines(body) {
			flaws = append(flaws, c.flaws(at+"/schema", line)...)
		}
		return flaws
	case "text/event-stream":
		for event, err := range sse.Read(strings.NewReader(body)) {
			if err != nil {
				break // the test has read enough
			}
			whole, err := json.Marshal(map[string]any{"id": event.ID, "event": event.Name, "data": json.RawMessage(event.Data)})
			if err != nil {
				return []string{err.Error()}
			}
			flaws = append(flaws, c.flaws(at+"/x-item-schema", string(whole))...)
		}
		return flaws
	}
	return malformed(kind, body)
}

// malformed reports a file that is none of its kind.
func malformed(kind, body string) []string {
	var err error
	switch kind {
	case "text/csv":
		_, err = csv.NewReader(strings.NewReader(body)).ReadAll()
	case "application/xml", "image/svg+xml":
		decoder := xml.NewDecoder(strings.NewReader(body))
		for err == nil {
			_, err = decoder.Token()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return []string{kind + ": " + err.Error()}
	}
	return nil
}

// flaws checks a JSON text against the schema at a place of the document.
func (c *contract) flaws(at, text string) []string {
	schema, err := c.schema(at)
	if err != nil {
		return []string{err.Error()}
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return []string{fmt.Sprintf("no JSON: %v in %s", err, shortened(text))}
	}
	if err := schema.Validate(value); err != nil {
		return []string{fmt.Sprintf("%v in %s", err, shortened(text))}
	}
	return nil
}

func (c *contract) schema(at string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := c.compiled[at]; ok {
		return found, nil
	}
	schema, err := c.compiler.Compile(documentURL + at)
	if err == nil {
		c.compiled[at] = schema
	}
	return schema, err
}

func shortened(text string) string { return fmt.Sprintf("%.400s", bytes.TrimSpace([]byte(text))) }
