package api_test

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A generator draws values of the document's schemas. Strings of a property
// are often those that the property had in an example or in an answer: ids,
// names of tasks and tools. Equal seeds draw equal values as long as the same
// words were learnt.
type generator struct {
	*rand.Rand
	root  map[string]any // the document
	words *vocabulary
}

// A vocabulary holds strings by the names of the properties that had them.
type vocabulary struct {
	mu    sync.Mutex
	words map[string][]string
}

// wordsKept is how many strings a vocabulary holds of a name.
const wordsKept = 24

func (v *vocabulary) learn(name, word string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if list := v.words[name]; len(word) <= 300 && !slices.Contains(list, word) {
		v.words[name] = append(list[max(0, len(list)-wordsKept+1):], word)
	}
}

// learnAll learns the strings of a JSON value.
func (v *vocabulary) learnAll(name string, value any) {
	switch value := value.(type) {
	case string:
		v.learn(name, value)
	case []any:
		for _, item := range value[:min(8, len(value))] {
			v.learnAll(name, item)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			v.learnAll(key, value[key])
		}
	}
}

func (v *vocabulary) forget(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.words, name)
}

func (v *vocabulary) of(name string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.words[name])
}

// newVocabulary knows the strings of the document's examples.
func newVocabulary(t testing.TB, c *contract) *vocabulary {
	t.Helper()
	v := &vocabulary{words: map[string][]string{}}
	for _, path := range slices.Sorted(maps.Keys(c.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(c.Paths[path])) {
			op := c.Paths[path][method]
			contents := []map[string]media{op.RequestBody.Content, op.Responses["200"].Content, op.Responses["201"].Content}
			for _, content := range contents {
				for _, kind := range slices.Sorted(maps.Keys(content)) {
					var value any
					if json.Unmarshal(content[kind].Example, &value) == nil {
						v.learnAll("", value)
					}
				}
			}
		}
	}
	return v
}

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// resolve follows a reference within the document.
func (g *generator) resolve(schema map[string]any) map[string]any {
	for {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		at := any(g.root)
		for token := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(map[string]any)[token]
		}
		schema = at.(map[string]any)
	}
}

// value draws a value that a schema allows, but for bounds of length and number
// that are rarely kept to.
func (g *generator) value(schema map[string]any, name string, depth int) any {
	schema = g.resolve(schema)
	if options, ok := schema["anyOf"].([]any); ok {
		return g.value(pick(g, options...).(map[string]any), name, depth)
	}
	if names, ok := schema["enum"].([]any); ok {
		return pick(g, names...)
	}
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok {
		kind = pick(g, kinds...).(string)
	}
	switch kind {
	case "object":
		return g.object(schema, depth)
	case "array":
		items, _ := schema["items"].(map[string]any)
		list := make([]any, pick(g, 0, 1, 1, 2, 3)*min(1, max(0, 8-depth)))
		for i := range list {
			list[i] = g.value(items, name, depth+1)
		}
		return list
	case "string":
		return g.text(name)
	case "integer", "number":
		return g.number(schema, kind)
	case "boolean":
		return g.chance(2)
	case "null":
		return nil
	}
	return g.anything(name, depth)
}

func (g *generator) object(schema map[string]any, depth int) any {
	object := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || depth < 8 && g.chance(2+depth/2) {
			object[name] = g.value(properties[name].(map[string]any), name, depth+1)
		}
	}
	if more, ok := schema["additionalProperties"].(map[string]any); ok && depth < 8 {
		for range g.IntN(3) {
			object[g.text("")] = g.value(more, "", depth+1)
		}
	}
	return object
}

// text draws a string: mostly one that the property had.
func (g *generator) text(name string) string {
	if known := g.words.of(name); len(known) > 0 && !g.chance(5) {
		return pick(g, known...)
	}
	if known := g.words.of(pick(g, "name", "task_id", "level", "id")); len(known) > 0 && g.chance(2) {
		return pick(g, known...)
	}
	return pick(g, strangeTexts()...)
}

// strangeTexts are strings that programs often mishandle.
func strangeTexts() []string {
	return []string{"", " ", "x", "0", "-1", "null", "true", "1e309", "é", "\u202e\u0000", "\ufeffx", "a/b", "../..", "%2e%2e%2f", "a\r\nb", "\U0001f600",
		"<script>alert(1)</script>", "=cmd()", "{{.}}", "${x}", "'; DROP TABLE episodes; --", "e\u0301", "\ufffd", "K", strings.Repeat("x", 200), strings.Repeat("[", 100),
		"arithmetic/2/18446744073709551615", "arithmetic/0/1@documented", "gridworld/0/1", `{"tools":[],"expected":{"calls":[]}}`,
		"<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 9, \"b\": 3}}\n</tool_call>", "<tool_call>{\"name\":", "[add(a=1, b=2)]", "valid * 2", "1/0", "float(calls)"}
}

func (g *generator) number(schema map[string]any, kind string) any {
	low, high := math.Inf(-1), math.Inf(1)
	if v, ok := schema["minimum"].(float64); ok {
		low = v
	}
	if v, ok := schema["maximum"].(float64); ok {
		high = v
	}
	numbers := []json.Number{"0", "1", "2", "3", "7", "10", "100", "2147483648", "9223372036854775807", "18446744073709551615", "-1", "-9223372036854775808"}
	if kind == "number" {
		numbers = append(numbers, "0.5", "-0.0", "1e-300", "1e300", "0.1", "3.5", "-2.25")
	}
	for range 20 {
		n := pick(g, numbers...)
		if v, err := n.Float64(); err == nil && v >= low && v <= high {
			return n
		}
	}
	return json.Number("1")
}

// anything draws JSON where the schema says nothing.
func (g *generator) anything(name string, depth int) any {
	switch g.IntN(7) {
	case 0:
		return nil
	case 1:
		return g.chance(2)
	case 2:
		return g.number(nil, "number")
	case 3:
		return []any{g.text(name)}
	case 4, 5:
		object := map[string]any{}
		for range g.IntN(3) * min(1, max(0, 8-depth)) {
			object[pick(g, "a", "b", "n", "role", "content", "name", "arguments", g.text("name"))] = g.anything(name, depth+2)
		}
		return object
	}
	return g.text(name)
}

// spoil makes one change somewhere in a value which its schema is unlikely to
// allow.
func (g *generator) spoil(value any) any {
	switch v := value.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 || g.chance(4) {
			v[pick(g, "__proto__", "", "Name", "x", g.text("name"))] = g.anything("", 4)
			return v
		}
		key := pick(g, keys...)
		if g.chance(4) {
			delete(v, key)
			return v
		}
		v[key] = g.spoil(v[key])
		return v
	case []any:
		if len(v) > 0 && !g.chance(3) {
			i := g.IntN(len(v))
			v[i] = g.spoil(v[i])
			return v
		}
	}
	return pick[any](g, nil, true, json.Number("-1"), json.Number("1e400"), json.Number("0.5"), json.Number("99999999999999999999"), "", []any{}, map[string]any{}, []any{nil}, g.text(""))
}

// garble damages the bytes of a JSON text.
func (g *generator) garble(text string) string {
	at := g.IntN(len(text) + 1)
	switch g.IntN(8) {
	case 0:
		return text[:at]
	case 1:
		return text + text
	case 2:
		return "\ufeff" + text
	case 3:
		return text[:at] + pick(g, "\x00", "\xff", "{", "]", "\"", ",", "\\u", "\\ud800") + text[at:]
	case 4:
		return ""
	case 5:
		return strings.Repeat("[", 3000)
	case 6:
		return pick(g, "null", "1", "[]", "\"x\"", "{}", "NaN", "{'a':1}", "a=b&c=d")
	}
	return strings.Replace(text, "{", `{"a":1,"a":2,`, 1)
}
