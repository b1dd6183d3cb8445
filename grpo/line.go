package grpo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolgym/grpo/parse"
	"toolgym/internal/strictjson"
)

// line is one line of a scoring file: a completion, its group and its task.
type line struct {
	group           string
	taskID          string
	tools, expected []byte // JSON, nil when left out
	completion      Completion
}

// lineFields are the fields of a line, in the order of the manual.
func lineFields() []string {
	return []string{
		"group", "task_id", "tools", "expected", "text", "messages", "family", "finish_reason",
		"tokens", "logprobs", "old_logprobs", "ref_logprobs", "mask",
	}
}

// readLine reads a line. What it could read before an error is returned with
// the error, so that the line keeps its group.
func readLine(text []byte) (line, error) {
	var l line
	seen := make([]string, 0, 16)
	err := members(text, func(key, value []byte) error {
		name := string(key)
		if slices.Contains(seen, name) {
			return refuse("/"+clip(name), "each field once", "it stands twice")
		}
		seen = append(seen, name)
		if err := l.read(name, value); err != nil {
			return at("/"+clip(name), err)
		}
		return nil
	})
	if err != nil {
		return l, err
	}
	return l, l.completion.validate()
}

func (l *line) read(name string, value []byte) error {
	c := &l.completion
	switch name {
	case "group":
		return readText(value, &l.group)
	case "task_id":
		return readText(value, &l.taskID)
	case "tools":
		l.tools = value
	case "expected":
		l.expected = value
	case "text":
		c.Text = new(string)
		return readText(value, c.Text)
	case "messages":
		return readJSON(value, &c.Messages)
	case "family":
		return readText(value, (*string)(&c.Family))
	case "finish_reason":
		return readText(value, &c.FinishReason)
	case "tokens":
		return readJSON(value, &c.Tokens)
	case "logprobs":
		return readJSON(value, &c.LogProbs)
	case "old_logprobs":
		return readJSON(value, &c.OldLogProbs)
	case "ref_logprobs":
		return readJSON(value, &c.RefLogProbs)
	case "mask":
		return readJSON(value, &c.Mask)
	default:
		return refuse("", "one of "+strings.Join(lineFields(), ", "), "unknown field")
	}
	return nil
}

// readText reads a JSON string; null leaves the text empty.
func readText(value []byte, to *string) error {
	read, err := strictjson.Decode(value)
	if err != nil {
		return refuse("", "a text", "%v", err)
	}
	text, ok := read.(string)
	if !ok && read != nil {
		return refuse("", "a text", "%s", describe(read))
	}
	*to = text
	return nil
}

func readJSON(value []byte, to any) error {
	if err := json.Unmarshal(value, to); err != nil {
		return refuse("", "a value of the documented form", "%v", err)
	}
	return nil
}

// unread is the score of a line that can not be read, or whose task is broken.
func unread(number int, err error) Score {
	return Score{
		Failure: &Failure{Kind: FailureHarness, Reason: fmt.Sprintf("line %d: %s", number, reason(err))},
		Calls:   []Call{}, Defects: []parse.Defect{}, Tier: parse.None, values: values{tokens: -1},
	}
}

// head writes the score as the part of an output line between index and
// advantage, tail the part from advantage's value on.
func (s *Score) head(b []byte) []byte {
	b = append(b, `,"reward":`...)
	if s.Reward != nil {
		b = appendNumber(b, *s.Reward, true)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"valid":`...)
	b = strconv.AppendBool(b, s.Valid)
	b = append(b, `,"failure":`...)
	if s.Failure == nil {
		return append(b, "null"...)
	}
	failure, _ := json.Marshal(s.Failure) // two strings always encode
	return append(b, failure...)
}

func (s *Score) tail(b []byte) []byte {
	b = append(b, `,"success":`...)
	b = strconv.AppendBool(b, s.Success)
	b = s.Criteria.appendTo(append(b, `,"criteria":`...))
	b = append(b, `,"defects":[`...)
	for i, d := range s.Defects {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), d...), '"')
	}
	b = append(b, `],"tier":"`...)
	b = append(b, s.Tier...)
	return append(b, "\"}\n"...)
}
