package match

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
)

// An Answer is the expected final answer: a string or a number. Its JSON form
// is that value, or an object with the value and a matcher's fields:
//
//	14.17
//	{"value": 14.17, "tolerance": 0.01}
//	{"value": "Oslo", "one_of": ["Kristiania"], "casefold": true}
type Answer struct {
	Value   any // a string or a json.Number
	Matcher Matcher
}

// UnmarshalJSON reads either form.
func (a *Answer) UnmarshalJSON(text []byte) error {
	var value json.RawMessage = text
	var form struct {
		Value json.RawMessage `json:"value"`
		Matcher
	}
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&form); err != nil {
			return refusal.New("", `a string, a number, or {"value", "tolerance", "one_of", "casefold"}`, "%v", err)
		}
		value = form.Value
	}
	read, err := strictjson.Decode(value)
	if err != nil {
		return refusal.New("/value", "a string or a number", "%v", err)
	}
	*a = Answer{Value: read, Matcher: form.Matcher}
	return nil
}

// MarshalJSON writes the short form where that says everything.
func (a Answer) MarshalJSON() ([]byte, error) {
	plain := Matcher{}
	if a.Matcher.Tolerance == plain.Tolerance && !a.Matcher.Casefold && a.Matcher.OneOf == nil {
		return json.Marshal(a.Value)
	}
	return json.Marshal(struct {
		Value any `json:"value"`
		Matcher
	}{a.Value, a.Matcher})
}

// answer is an Answer with its alternatives decoded.
type answer struct {
	values  []any
	matcher Matcher
}

// compile refuses an answer that no text could give.
func (a Answer) compile() (*answer, error) {
	if a.Matcher.Any || a.Matcher.Set {
		return nil, refusal.New("", "tolerance, one_of or casefold", "an answer is neither a set nor any")
	}
	if err := a.Matcher.check(); err != nil {
		return nil, err
	}
	compiled := &answer{[]any{a.Value}, a.Matcher}
	for i, text := range a.Matcher.OneOf {
		value, err := strictjson.Decode(text)
		if err != nil {
			return nil, refusal.New(fmt.Sprintf("/one_of/%d", i), "a JSON value", "%v", err)
		}
		compiled.values = append(compiled.values, value)
	}
	for _, value := range compiled.values {
		if err := checkAnswer(value); err != nil {
			return nil, err
		}
	}
	return compiled, nil
}

func checkAnswer(value any) error {
	switch v := value.(type) {
	case json.Number:
		return nil
	case string:
		if strings.TrimSpace(v) != "" {
			return nil
		}
	}
	return refusal.New("", "a string with text, or a number", "%v is no answer", value)
}

// Answer reports whether the text gives the expected answer; true where none is
// expected.
func (p *Plan) Answer(text string) bool {
	if p.answer == nil {
		return true
	}
	given, err := marked(text)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(p.answer.values, func(want any) bool { return p.answer.is(want, given) })
}

// AsksForAnswer reports whether an answer is expected.
func (p *Plan) AsksForAnswer() bool { return p.answer != nil }

func (a *answer) is(want any, given string) bool {
	if text, ok := want.(string); ok {
		return a.matcher.equal(nil, strings.TrimSpace(text), given)
	}
	number, ok := lastNumber(given)
	return ok && a.matcher.equal(nil, want, number)
}

const opener, closer = "<answer>", "</answer>"

// marked returns the text between the answer tags, or the whole text without
// any. More than one answer is none: a text must not hedge.
func marked(text string) (string, error) {
	switch strings.Count(text, opener) {
	case 0:
		return strings.TrimSpace(text), nil
	case 1:
		_, rest, _ := strings.Cut(text, opener)
		inside, _, closed := strings.Cut(rest, closer)
		if !closed {
			return "", errors.New("the answer is not closed")
		}
		return strings.TrimSpace(inside), nil
	}
	return "", errors.New("there are several answers")
}

// number is a number as people write it: a sign, thousands parted by commas,
// decimals, an exponent. It is a linear-time pattern.
var number = regexp.MustCompile(`(?:-|−|\+)?(?:[0-9]{1,3}(?:,[0-9]{3})+\b|[0-9]+)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`)

// lastNumber returns the last number of the text as a JSON number. A sign that
// follows a letter or a digit joins two words and is none.
func lastNumber(text string) (json.Number, bool) {
	const longest = 4096 // an answer stands at the end
	cut := len(text) > longest
	if cut {
		text = text[len(text)-longest:]
	}
	found := number.FindAllStringIndex(text, -1)
	if len(found) == 0 {
		return "", false
	}
	at := found[len(found)-1]
	if cut && at[0] == 0 {
		return "", false // its first digits may be missing
	}
	digits := text[at[0]:at[1]]
	sign := ""
	if rest, ok := strings.CutPrefix(digits, "−"); ok {
		digits = "-" + rest
	}
	if digits[0] == '-' || digits[0] == '+' {
		if digits[0] == '-' && !joins(text[:at[0]]) {
			sign = "-"
		}
		digits = digits[1:]
	}
	return plain(sign, strings.ReplaceAll(digits, ",", ""))
}

func joins(before string) bool {
	if before == "" {
		return false
	}
	c := before[len(before)-1]
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == ')'
}

// plain writes digits as JSON does, without leading zeros.
func plain(sign, digits string) (json.Number, bool) {
	for len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		digits = digits[1:]
	}
	n := json.Number(sign + digits)
	_, err := strictjson.Decode([]byte(n))
	return n, err == nil
}
