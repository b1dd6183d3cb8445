package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// once makes a body when it is first needed, for all attackers.
func once(build func() string) func() []byte {
	return sync.OnceValue(func() []byte { return []byte(build()) })
}

// quoted is a text as JSON.
func quoted(s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can be encoded, and a buffer takes it
	return strings.TrimSuffix(out.String(), "\n")
}

// toolsOf is a list of one tool f with the parameters.
func toolsOf(parameters string) string {
	return `[{"type":"function","function":{"name":"f","description":"A function.","parameters":` + parameters + `}}]`
}

// callOf is a completion that calls f, as the family hermes writes it.
func callOf(arguments string) string {
	return "<tool_call>\n{\"name\": \"f\", \"arguments\": " + arguments + "}\n</tool_call>"
}

// parseBody, scoreBody and lineBody are one completion against one list of
// tools, for POST /v1/parse, /v1/score and /v1/score/stream.
func parseBody(tools, completion, family string) string {
	return `{"text":` + quoted(completion) + `,"family":"` + family + `","tools":` + tools + `}`
}

func scoreBody(tools, completion, family string) string {
	return `{"groups":[{"id":"g","tools":` + tools + `,"expected":{"calls":[{"name":"f","arguments":{}}]},"completions":[{"text":` + quoted(completion) + `,"family":"` + family + `"}]}]}`
}

func lineBody(tools, completion, family string) string {
	return `{"group":"g","tools":` + tools + `,"expected":{"calls":[{"name":"f","arguments":{}}]},"text":` + quoted(completion) + `,"family":"` + family + `"}` + "\n"
}

// object is a schema whose property a is the given one.
func object(a string) string { return `{"type":"object","properties":{"a":` + a + `}}` }

// chain is a schema in which each definition refers twice to the next, so that a
// validator which follows all of them visits the last 2 to the depth times.
func chain(depth int, pair string) string {
	var defs strings.Builder
	for i := range depth {
		next := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&defs, `"d%d":%s,`, i, strings.ReplaceAll(pair, "NEXT", next))
	}
	return fmt.Sprintf(`{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{%s"d%d":{"type":"string"}}}`, defs.String(), depth)
}

// properties is a schema with n properties of one schema.
func properties(n int, schema string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"p%d":%s`, i, schema))
	}
	return `{"type":"object","properties":{` + strings.Join(list, ",") + `}}`
}

// numbers are n numbers from the first on, with commas between.
func numbers(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(first + i)
	}
	return strings.Join(list, ",")
}

// nested is a value inside of n others.
func nested(n int, before, value, after string) string {
	return strings.Repeat(before, n) + value + strings.Repeat(after, n)
}

// times is a list of n equal members of about so many bytes in all.
func times(bytes int, member string) string { return members(bytes/(len(member)+1), member) }

// members are n equal members of a list.
func members(n int, member string) string {
	return strings.TrimSuffix(strings.Repeat(member+",", n), ",")
}

// A schema is one that costs more than it looks, with arguments that make it.
type schema struct{ name, parameters, arguments string }

func schemas() []schema {
	long := quoted(strings.Repeat("x", 20_000))
	return []schema{
		{"anyOf pairs, 20 deep", chain(20, `{"anyOf":[NEXT,NEXT]}`), `{"a":1}`},
		{"anyOf pairs, 24 deep", chain(24, `{"anyOf":[NEXT,NEXT]}`), `{"a":1}`},
		{"allOf pairs, 24 deep", chain(24, `{"allOf":[NEXT,NEXT]}`), `{"a":"x"}`},
		{"oneOf pairs, 22 deep", chain(22, `{"oneOf":[NEXT,NEXT]}`), `{"a":"x"}`},
		{"if and then, 22 deep", chain(22, `{"if":NEXT,"then":NEXT,"else":NEXT}`), `{"a":1}`},
		{"not and anyOf, 22 deep", chain(22, `{"not":{"anyOf":[NEXT,NEXT]}}`), `{"a":1}`},
		{"properties in pairs, 22 deep", chain(22, `{"properties":{"b":NEXT},"additionalProperties":NEXT}`), `{"a":` + nested(22, `{"b":`, `1`, `,"c":1}`) + `}`},
		{"patterns of optional repeats", properties(20, `{"type":"string","pattern":"(x?){1000}"}`), `{"p0":` + long + `,"p1":` + long + `,"p19":` + long + `}`},
		{"patterns of long repeats", properties(3000, `{"type":"string","pattern":"`+strings.Repeat("x{1000}", 6)+`"}`), `{"p0":` + long + `}`},
		{"pattern of nested repeats", object(`{"type":"string","pattern":"((x{0,30}){0,30})*y"}`), `{"a":` + long + `}`},
		{"pattern properties", `{"type":"object","patternProperties":{"(x?){900}y":{},"(x?){901}y":{},"(x?){902}y":{}}}`, `{` + quoted(strings.Repeat("x", 5000)) + `:1}`},
		{"long enum for many items", object(`{"type":"array","items":{"enum":[` + numbers(0, 9000) + `]}}`), `{"a":[` + numbers(100_000, 900) + `]}`},
		{"unique items", object(`{"type":"array","uniqueItems":true}`), `{"a":[` + numbers(0, 9000) + `]}`},
		{"unique objects", object(`{"type":"array","uniqueItems":true}`), `{"a":[` + times(60_000, `{"x":[[[[1]]]]}`) + `,{"x":2}]}`},
		{"contains", object(`{"type":"array","contains":{"enum":[` + numbers(0, 9000) + `]},"minContains":900}`), `{"a":[` + numbers(100_000, 900) + `]}`},
		{"large const", object(`{"type":"array","items":{"const":[` + numbers(0, 9000) + `]}}`), `{"a":[` + times(60_000, `[`+numbers(0, 900)+`]`) + `]}`},
		{"a schema 5,000 deep", object(nested(5000, `{"properties":{"a":`, `{}`, `}}`)), `{"a":1}`},
		{"references in a circle", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}}}`, `{"a":1}`},
		{"a list of itself", `{"type":"object","properties":{"a":{"$ref":"#"}},"anyOf":[{"$ref":"#/properties/a"},{}]}`, nested(400, `{"a":`, `1`, `}`)},
		{"a reference elsewhere", object(`{"$ref":"http://127.0.0.1:1/schema.json"}`), `{"a":1}`},
		{"many required names", `{"type":"object","required":[` + times(100_000, `"x"`) + `]}`, `{}`},
	}
}

// A completion is a text that a careless reader takes too long for: n pieces
// after a head.
type completion struct{ name, family, head, piece string }

func completions() []completion {
	return []completion{
		{"lists without end", "pythonic", "[[", "[f(a=1), "},
		{"calls without end", "pythonic", "", "[f(a="},
		{"argument keys", "glm-4.5", "<tool_call>f\n", "<arg_key>a"},
		{"argument keys, family unknown", "auto", "", "<arg_key>a"},
		{"opened tool calls", "hermes", "", "<tool_call>"},
		{"opened objects", "auto", "", `{"name":"f","arguments":`},
		{"opened lists", "llama3_json", "", "["},
		{"functions", "qwen3-coder", "", "<function=f><parameter=a>"},
		{"reasoning", "auto", "", "<think></think"},
		{"fences", "auto", "", "```json\n{"},
		{"calls of Mistral", "mistral", "", "[TOOL_CALLS]"},
		{"channels", "harmony", "", "<|channel|>commentary to=functions.f<|message|>{"},
		{"marks of DeepSeek", "deepseek-v3.1", "", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>"},
		{"sections of Kimi", "kimi-k2", "", "<|tool_calls_section_begin|><|tool_call_begin|>"},
		{"quotes and backslashes", "auto", `{"name":"f","arguments":{"a":"`, `\\\"`},
		{"brackets of Python", "llama4", "[f(a=", "("},
		{"digits", "auto", `{"name":"f","arguments":{"a":`, "1"},
	}
}

// of returns the completion in about so many bytes.
func (c completion) of(bytes int) string { return c.head + strings.Repeat(c.piece, bytes/len(c.piece)) }
