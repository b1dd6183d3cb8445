package dialect

import (
	"bytes"
	"encoding/json"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/internal/intake"
	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
)

// A label is the task that a trainer sends along with a prompt.
type label struct {
	group  grpo.Group // without completions
	family parse.Family
	place  int // of the group
}

// readLabel reads a task's id, or a task as a JSON object.
func readLabel(text string, desk *intake.Desk) (label, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return label{group: grpo.Group{TaskID: text}}, nil
	}
	if _, err := strictjson.Decode([]byte(text)); err != nil {
		return label{}, refusal.New("", "one JSON object", "%v", err)
	}
	var sent struct {
		TaskID   string          `json:"task_id"`
		Tools    json.RawMessage `json:"tools"`
		Expected *match.Expected `json:"expected"`
		Family   parse.Family    `json:"family"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&sent); err != nil {
		return label{}, refusal.Of(err, "task_id, or tools and expected; and family")
	}
	set, err := desk.Tools(sent.Tools)
	if err != nil {
		return label{}, refusal.Below("/tools", err)
	}
	if err := sent.Family.Validate(); err != nil {
		return label{}, err
	}
	return label{group: grpo.Group{TaskID: sent.TaskID, Tools: set, Expected: sent.Expected}, family: sent.Family}, nil
}
