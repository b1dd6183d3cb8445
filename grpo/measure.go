package grpo

import (
	"bytes"
	"strings"

	"toolgym/grpo/parse"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// measure takes the measures that reports show, completion and length aside.
func (s *Score) measure(t *task, turns []turn, c *Completion) {
	v := &s.Criteria
	format := true
	for i := range turns {
		format = format && turns[i].reading.FormatOK
		repeated, empty := measureTags(turns[i].text)
		v.values[mRepeatedTags] += float64(repeated)
		v.values[mEmptyTags] += float64(empty)
		v.values[mRepetition] = max(v.values[mRepetition], repetition(turns[i].text))
		v.flag(mFabricatedResult, turns[i].reading.Has(parse.DefectFabricated))
		v.flag(mCopiedSchema, t.copied(turns[i].text))
	}
	v.flag(mFormat, format)
	s.measureCalls(t)
	v.flag(mUngroundedAnswer, t.needsCall() && v.values[mCallsExecuted] == 0 && answers(&turns[len(turns)-1]))
	v.flag(mOverlong, c.FinishReason == "length")
}

// measureCalls counts the calls, and takes the share of the valid ones.
func (s *Score) measureCalls(t *task) {
	v := &s.Criteria
	parsed, valid, executed, hidden := 0, 0, 0, 0
	for i := range s.Calls {
		c := &s.Calls[i]
		if !c.Counts() {
			continue
		}
		parsed++
		if c.valid() {
			valid++
		}
		if c.carriedOut() {
			executed++
		}
		for _, violation := range c.Violations {
			if hiddenKeyword(violation.Keyword) {
				hidden++
			}
		}
		v.flag(mCopiedSchema, t.copiedInto(c))
	}
	v.set(mCallsEmitted, float64(len(s.Calls)))
	v.set(mCallsParsed, float64(parsed))
	v.set(mCallsValid, float64(valid))
	v.set(mCallsExecuted, float64(executed))
	v.set(mCallsNeeded, float64(t.needed()))
	v.set(mHiddenViolations, float64(hidden))
	switch {
	case parsed > 0:
		v.set(mSchema, float64(valid)/float64(parsed))
	case !t.needsCall():
		v.set(mSchema, 1)
	}
}

// carriedOut reports whether the call did its work: in the environment, or, in
// a task without one, by being valid.
func (c *Call) carriedOut() bool {
	if c.Result != nil {
		return !c.Result.IsError
	}
	return c.valid() && c.Verdict != VerdictAfterEnd
}

// answers reports whether the turn speaks to the user and calls nothing.
func answers(t *turn) bool {
	return t.reading.Tier == parse.Answer && strings.TrimSpace(t.reading.Content) != ""
}

// hiddenKeyword reports whether serving layers drop the keyword from the tool's
// declaration before the model sees it. Ollama keeps type, properties, required,
// items, enum, description and $defs of the top level.
func hiddenKeyword(keyword string) bool {
	switch keyword {
	case "type", "required", "enum", "json", "name":
		return false
	}
	return true
}

// copied reports whether a tool's declaration stands in the text, byte for byte.
func (t *task) copied(text string) bool {
	const shortest = 32 // {"type":"object"} alone is no copy
	if !strings.Contains(text, `"properties"`) {
		return false
	}
	for i := range t.set {
		if p := t.set[i].Parameters; len(p) >= shortest && strings.Contains(text, string(p)) {
			return true
		}
	}
	return false
}

// copiedInto reports whether the call's arguments are its tool's schema, or hold
// an argument's declaration in the argument's place.
func (t *task) copiedInto(c *Call) bool {
	if bytes.LastIndexByte(c.Arguments, '{') <= 0 {
		return false // there is no object in them
	}
	if _, ok := c.Value["properties"]; ok {
		return t.isSchema(c.Name, "", c.Value)
	}
	for name, value := range c.Value {
		if object, ok := value.(map[string]any); ok && t.isSchema(c.Name, name, object) {
			return true
		}
	}
	return false
}

// isSchema compares an object with a tool's properties, or with one of them.
func (t *task) isSchema(tool, argument string, object map[string]any) bool {
	declared, ok := t.set.Lookup(tool)
	if !ok {
		return false
	}
	properties := properties(declared)
	if argument == "" {
		return properties != nil && strictjson.Equal(properties, object["properties"])
	}
	return properties[argument] != nil && strictjson.Equal(properties[argument], object)
}

func properties(tool tools.Tool) map[string]any {
	schema, err := strictjson.Decode(tool.Parameters)
	if err != nil {
		return nil
	}
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	return properties
}
