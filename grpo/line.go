package grpo

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// line is one line of a scoring file: a completion, its group and its task.
type line struct {
	group           string
	taskID          string
	tools, expected []byte // JSON, nil when left out
	completion      Completion
}

// field indexes lineFields.
type field int

const (
	fieldGroup field = iota
	fieldTaskID
	fieldTools
	fieldExpected
	fieldText
	fieldMessages
	fieldFamily
	fieldFinishReason
	fieldTokens
	fieldLogProbs
	fieldOldLogProbs
	fieldRefLogProbs
	fieldMask
	unknown field = -1
)

// lineFields are the fields of a line, in the order of the manual.
func lineFields() []string {
	return []string{
		fieldGroup: "group", fieldTaskID: "task_id", fieldTools: "tools", fieldExpected: "expected", fieldText: "text",
		fieldMessages: "messages", fieldFamily: "family", fieldFinishReason: "finish_reason", fieldTokens: "tokens",
		fieldLogProbs: "logprobs", fieldOldLogProbs: "old_logprobs", fieldRefLogProbs: "ref_logprobs", fieldMask: "mask",
	}
}

// fieldOf finds a field by its name.
func fieldOf(key []byte) field {
	for i, name := range lineFields() {
		if name == string(key) {
			return field(i)
		}
	}
	return unknown
}

// readLine reads a line. What it could read before an error is returned with
// the error, so that the line keeps its group. Before is as for members.
func readLine(text, before []byte, l *line) error {
	seen := 0 // a bit for each field
	err := members(text, before, func(key, value []byte) error {
		field := fieldOf(key)
		if field == unknown {
			return refusal.New("/"+clip(string(key)), "one of "+strings.Join(lineFields(), ", "), "unknown field")
		}
		if seen&(1<<field) != 0 {
			return refusal.New("/"+clip(string(key)), "each field once", "it stands twice")
		}
		seen |= 1 << field
		if err := l.read(field, value); err != nil {
			return refusal.Below("/"+string(key), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.completion.validate()
}

func (l *line) read(f field, value []byte) error {
	c := &l.completion
	switch f {
	case fieldGroup:
		return readText(value, &l.group)
	case fieldTaskID:
		return readText(value, &l.taskID)
	case fieldTools:
		l.tools = value
	case fieldExpected:
		l.expected = value
	case fieldText:
		c.Text = new(string)
		return readText(value, c.Text)
	case fieldMessages:
		return readJSON(value, &c.Messages)
	case fieldFamily:
		return readText(value, (*string)(&c.Family))
	case fieldFinishReason:
		return readText(value, &c.FinishReason)
	case fieldTokens:
		return readJSON(value, &c.Tokens)
	case fieldLogProbs:
		return readJSON(value, &c.LogProbs)
	case fieldOldLogProbs:
		return readJSON(value, &c.OldLogProbs)
	case fieldRefLogProbs:
		return readJSON(value, &c.RefLogProbs)
	case fieldMask:
		return readJSON(value, &c.Mask)
	}
	return nil
}

// readText reads a JSON string; null leaves the text empty.
func readText(value []byte, to *string) error {
	read, err := strictjson.Decode(value)
	if err != nil {
		return refusal.New("", "a text", "%v", err)
	}
	text, ok := read.(string)
	if !ok && read != nil {
		return refusal.New("", "a text", "%s", describe(read))
	}
	*to = text
	return nil
}

func readJSON(value []byte, to any) error {
	if err := json.Unmarshal(value, to); err != nil {
		return refusal.New("", "a value of the documented form", "%v", err)
	}
	return nil
}

// unread makes the score that of a line which cannot be read, or whose task is
// broken.
func (s *Score) unread(number int, err error) {
	s.broken(err)
	s.Failure.Reason = fmt.Sprintf("line %d: %s", number, s.Failure.Reason)
}

// broken makes the score that of a completion which cannot be judged, and keeps
// an error that is not the caller's as its Cause.
func (s *Score) broken(err error) {
	*s = Score{
		Failure: &Failure{Kind: FailureHarness, Reason: reason(err)},
		Calls:   []Call{}, Defects: []parse.Defect{}, Tier: parse.None, tokens: -1, Criteria: s.Criteria,
	}
	if _, ok := errors.AsType[*tools.Error](err); !ok {
		s.Cause = err
	}
}
