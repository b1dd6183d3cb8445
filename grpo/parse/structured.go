package parse

import (
	"encoding/json"
	"errors"
	"strings"

	"toolgym/internal/strictjson"
)

// structured makes an attempt of one entry of tool_calls. Ollama sends the
// arguments as an object and OpenAI as a string; both are native, and so is
// their absence for a call without arguments: that is a matter of transport.
func (s *scan) structured(c toolCall) Attempt {
	a := Attempt{Family: Structured, Status: StatusOK, ID: c.id, Name: c.name, Raw: c.raw, Span: c.span}
	switch value := c.arguments.(type) {
	case nil:
		a.Value, a.Arguments = map[string]any{}, json.RawMessage("{}")
	case map[string]any:
		a.Value, a.Arguments = value, json.RawMessage(c.raw)
		if c.mends != 0 {
			a.Arguments = strictjson.Append(nil, value)
			a.Defects = with(a.Defects, mendDefects(c.mends)...)
		}
	case string:
		a.Raw = value
		s.stringArguments(&a, value)
	default:
		a.fail(StatusMalformed, DefectArgumentsNotObject)
	}
	if a.cutName(); a.Name == "" {
		a.fail(StatusMissingName, DefectMissingName)
	}
	return a
}

// stringArguments decodes arguments that came as text. What the model misspelt
// is mended or lost as in any other text.
func (s *scan) stringArguments(a *Attempt, text string) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed == "null" {
		a.Value, a.Arguments = map[string]any{}, json.RawMessage("{}")
		return
	}
	limits := s.reader.Limits.JSON
	members, end, err := limits.Object(trimmed)
	var mends strictjson.Mends
	if err != nil {
		members, end, mends, err = limits.Mend(trimmed)
	}
	failure, failed := errors.AsType[*strictjson.Error](err)
	switch {
	case failed && !strings.HasPrefix(trimmed, "{"):
		a.fail(StatusMalformed, DefectArgumentsNotObject)
	case failed:
		inner := scan{reader: s.reader, text: trimmed, end: len(trimmed), cutOff: s.cutOff}
		status, defect := inner.diagnose(failure, failure.Offset, "", false)
		a.fail(status, defect)
	case end < len(trimmed) && strings.Trim(trimmed[end:], "}] \n\r\t") != "":
		a.fail(StatusInvalidJSON, DefectInvalidJSON)
	default:
		a.Raw = trimmed[:end]
		a.takeArguments(members, mends)
		if end < len(trimmed) {
			a.Defects = with(a.Defects, DefectStrayCloser)
		}
	}
}
