package parse

import (
	"encoding/json"
	"slices"

	"toolgym/tools"
)

// Span is a range of bytes of the text that was read, text[Start:End]. For a
// structured call the text is the message's body; a stream has no single text,
// and its calls have empty spans.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Attempt is one try at a call, whether it succeeded or not.
type Attempt struct {
	Family    Family          `json:"family"` // whose form it is in
	Tier      Tier            `json:"tier"`
	Status    Status          `json:"status"`
	Defects   []Defect        `json:"defects"`
	ID        string          `json:"id,omitempty"` // where the form carries one
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`     // the decoded object, null when there is none
	Raw       string          `json:"raw_arguments"` // as the model wrote them
	Span      Span            `json:"span"`

	SchemaValid      *bool             `json:"schema_valid"` // null for an attempt that does not count
	Violations       []tools.Violation `json:"violations"`
	Coercible        bool              `json:"coercible"`
	UnknownArguments []string          `json:"unknown_arguments"`

	// Value is Arguments as [strictjson.Decode] reads them, so that no caller
	// has to decode them again.
	Value map[string]any `json:"-"`
}

// Counts reports whether the attempt counts as a call.
func (a Attempt) Counts() bool { return a.Tier != None }

// Call is the attempt as a call.
func (a Attempt) Call() tools.Call { return tools.Call{Name: a.Name, Arguments: a.Arguments} }

// Has reports whether the attempt has the defect.
func (a Attempt) Has(d Defect) bool { return has(a.Defects, d) }

// Failure says that a completion cannot be held against the model.
type Failure struct {
	Kind   string `json:"kind"` // serving, harness or infrastructure
	Reason string `json:"reason"`
}

// Reading is what was found in one completion.
type Reading struct {
	Family      Family       `json:"family"` // the family taken; auto when none was
	Tier        Tier         `json:"tier"`
	FormatOK    bool         `json:"format_ok"`
	SchemaValid *bool        `json:"schema_valid"` // null without calls
	Calls       []tools.Call `json:"calls"`        // those that count, in order
	Attempts    []Attempt    `json:"attempts"`
	Content     string       `json:"content"`   // what the user sees
	Reasoning   string       `json:"reasoning"` // what the user does not see
	Defects     []Defect     `json:"defects"`   // all of them, each once
	Failure     *Failure     `json:"failure,omitempty"`

	// Hidden is where Reasoning stands in a text, and MadeUp what is not read of
	// it: all from the first result on that the model made up. Both are for
	// people who look at the text, and empty where there is no single one.
	Hidden []Span `json:"-"`
	MadeUp Span   `json:"-"`
}

// Has reports whether the completion, or one of its attempts, has the defect.
func (r Reading) Has(d Defect) bool { return has(r.Defects, d) }

func has(list []Defect, d Defect) bool { return slices.Contains(list, d) }

// with adds defects that are not there yet.
func with(list []Defect, more ...Defect) []Defect {
	for _, d := range more {
		if !has(list, d) {
			list = append(list, d)
		}
	}
	return list
}
