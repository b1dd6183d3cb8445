package tools

import (
	"fmt"
	"strings"
)

// attack is a schema that costs much more than its bytes, and a value for it.
type attack struct{ name, schema, value string }

// refused is one whose declaration is refused, with a message.
type refused struct{ name, schema, message string }

func refusedAttacks() []refused {
	list := []refused{
		{"a longer chain of references", `{"$ref":"#/$defs/d0","$defs":{` + definitions(900, `{"$ref":"#/$defs/d%d"}`) + `}}`, "more than 200 schemas apply to one value"},
		{"patterns of names", `{"patternProperties":{` + patternsOf(18, `(x?){400}y%d`) + `}}`, "more than 20000 instructions"},
		{"conditions", `{"if":{"$ref":"#/$defs/d0"},"then":{"$ref":"#/$defs/d0"},"$defs":{` + definitions(12, `{"if":{"$ref":"#/$defs/d%[1]d"},"then":{"$ref":"#/$defs/d%[1]d"},"else":{"$ref":"#/$defs/d%[1]d"}}`) + `}}`, "expands to more than 50000 nodes"},
		{"a large program", `{"pattern":"(x?){1000}","patternProperties":{` + patternsOf(19, `(x?){1000}%d`) + `}}`, "more than 20000 instructions"},
		{"many large programs", `{"properties":{` + listed(300, `"p%[1]d":{"pattern":"x{1000}x{1000}x{1000}%[1]d"}`) + `}}`, "more than 20000 instructions"},
		{"a long pattern", `{"pattern":"` + strings.Repeat(`\\p{L}`, 2000) + `"}`, "a pattern has"},
		{"a large program of an old draft", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{` + listed(20, `"p%[1]d":{"pattern":"(x{30}){33}%[1]d"}`) + `}}`, "more than 20000 instructions"},
		{"many properties", `{"properties":{` + properties(9000, `{}`) + `}}`, "9002 objects and booleans"},
		{"many enumerated values", `{"properties":{"a":{"enum":[` + numbers(10001) + `]}}}`, "10001 enum values"},
		{"many values", `{"default":[` + numbers(70000) + `]}`, "more than 60000 values"},
		{"many bytes", `{"description":"` + strings.Repeat("x", 1<<20) + `"}`, "bytes"},
		{"many references", `{"x":{` + properties(1001, `{}`) + `},"allOf":[` + listed(1001, `{"$ref":"#/x/p%d"}`) + `]}`, "1001 different references"},
		{"many identifiers", `{"properties":{` + listed(201, `"p%[1]d":{"$id":"http://a/%[1]d"}`) + `}}`, "201 identifiers"},
		{"deep nesting", strings.Repeat(`{"not":`, 200) + "{}" + strings.Repeat("}", 200), "deep"},
		{"a large exponent", `{"properties":{"a":{"multipleOf":1e-100000}}}`, "exponent"},
		{"many digits", `{"properties":{"a":{"const":` + strings.Repeat("9", 2000) + `}}}`, "more than 1000 characters"},
		{"a large count", `{"properties":{"a":{"minLength":1e30}}}`, "the count is too large"},
	}
	for _, keyword := range []string{"anyOf", "allOf", "oneOf"} {
		for _, depth := range []int{16, 20, 24} {
			list = append(list, refused{fmt.Sprintf("%s doubled %d times", keyword, depth), doubled(keyword, depth), "expands to more than 50000 nodes"})
		}
	}
	return list
}

// costlyAttacks are those whose values take too many steps.
func costlyAttacks() []attack {
	return []attack{
		{"enumerations of numbers", `{"properties":{"a":{"items":{"enum":[` + numbers(9000) + `]}}}}`, `{"a":[` + strings.Repeat("0.5,", 899) + `0.5]}`},
		{"a tree that doubles", `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)},
		{"items that double", `{"properties":{"a":{"$ref":"#/$defs/l"}},"$defs":{"l":{"items":{"anyOf":[{"$ref":"#/$defs/l"},{"$ref":"#/$defs/l"}]}}}}`,
			`{"a":` + strings.Repeat(`[`, 60) + strings.Repeat("]", 60) + `}`},
		{"unique objects", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[` + strings.Repeat(`{"a":1,"b":2},`, 30000) + `1]}`},
		{"unique few", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[` + strings.Repeat(`[`+strings.Repeat("1,", 4000)+`1],`, 15) + `1]}`},
		{"multiples", `{"properties":{"a":{"items":{"multipleOf":1e-999}}}}`, `{"a":[` + strings.Repeat("1e999,", 20000) + `1]}`},
		{"many requirements", `{"properties":{"a":{"items":{"required":[` + strungNames(9000) + `]}}}}`, `{"a":[` + strings.Repeat("{},", 9000) + `{}]}`},
		{"many alternatives", `{"properties":{"a":{"items":{"anyOf":[` + strings.Repeat(`{"type":"object","additionalProperties":false},`, 2000) + `false]}}}}`,
			`{"a":[` + strings.Repeat(`{"b":1},`, 2000) + `1]}`},
		{"alternatives and names", `{"anyOf":[` + strings.Repeat(`{"type":"object","additionalProperties":false},`, 2000) + `false]}`, `{` + properties(9000, `1`) + `}`},
		{"unevaluated", `{"allOf":[` + strings.Repeat(`{"required":["p1"]},`, 3000) + `true],"unevaluatedProperties":false}`, `{` + properties(9000, `1`) + `}`},
		{"property names", `{"propertyNames":{"allOf":[` + strings.Repeat(`{"minLength":1},`, 3000) + `true]}}`, `{` + properties(9000, `1`) + `}`},
		{"contains", `{"properties":{"a":{"contains":{"anyOf":[` + strings.Repeat(`{"type":"string"},`, 3000) + `false]}}}}`, `{"a":[` + strings.Repeat("1,", 9000) + `1]}`},
		{"long texts", `{"properties":{"a":{"allOf":[` + strings.Repeat(`{"minLength":1},`, 3000) + `true]}}}`, `{"a":"` + strings.Repeat("x", 3<<20) + `"}`},
		{"a pattern and a long text", `{"properties":{"a":{"pattern":"(x?){900}$"}}}`, `{"a":"` + strings.Repeat("x", 1<<20) + `y"}`},
		{"dynamic references", `{"$dynamicAnchor":"t","properties":{"a":{"allOf":[{"$dynamicRef":"#t"},{"$dynamicRef":"#t"}]}}}`, strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)},
		{"recursive references", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"a":{"allOf":[{"$recursiveRef":"#"},{"$recursiveRef":"#"}]}}}`,
			strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)},
	}
}

// boundedAttacks are those that are within the bounds.
func boundedAttacks() []attack {
	return []attack{
		{"a chain of references", `{"$ref":"#/$defs/d0","$defs":{` + definitions(150, `{"$ref":"#/$defs/d%d"}`) + `}}`, `{}`},
		{"a large constant", `{"properties":{"a":{"items":{"const":[` + numbers(9000) + `]}}}}`, `{"a":[` + strings.Repeat(`[`+numbers(9000)+`],`, 9) + `1]}`},
		{"dependent schemas", `{"dependentSchemas":{"a":{"$ref":"#/$defs/d0"},"b":{"$ref":"#/$defs/d0"}},"$defs":{` + definitions(12, `{"dependentSchemas":{"a":{"$ref":"#/$defs/d%[1]d"},"b":{"$ref":"#/$defs/d%[1]d"}}}`) + `}}`, `{"a":1,"b":1}`},
		{"formats of an old draft", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":{"format":"regex"}}}}`, `{"a":[` + strings.Repeat(`"(x{100}){10}",`, 9000) + `1]}`},
		{"any doubled", doubled("anyOf", 13), `{"a":1}`},
		{"all doubled", doubled("allOf", 13), `{"a":1}`},
		{"one doubled", doubled("oneOf", 13), `{"a":1}`},
	}
}

// doubled is a definition that refers twice to one that refers twice to another.
func doubled(keyword string, depth int) string {
	return `{"$ref":"#/$defs/d0","$defs":{` + definitions(depth, `{"`+keyword+`":[{"$ref":"#/$defs/d%[1]d"},{"$ref":"#/$defs/d%[1]d"}]}`) + `}}`
}

// definitions are d0 to dn, each of a form in which the next one is named; the
// last refuses objects.
func definitions(n int, form string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"d%d":%s,`, i, fmt.Sprintf(form, i+1))
	}
	return b.String() + fmt.Sprintf(`"d%d":{"type":"string"}`, n)
}

func listed(n int, form string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(form, i)
	}
	return strings.Join(list, ",")
}

func numbers(n int) string                    { return listed(n, "%d") }
func strungNames(n int) string                { return listed(n, `"t%d"`) }
func properties(n int, value string) string   { return listed(n, `"p%d":`+value) }
func patternsOf(n int, pattern string) string { return listed(n, `"`+pattern+`":true`) }
