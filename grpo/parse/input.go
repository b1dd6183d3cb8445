package parse

import (
	"encoding/json"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Input is one completion as it came: exactly one of Text, Message and Stream.
type Input struct {
	Text         *string           `json:"text,omitempty"`          // what the model generated
	Message      json.RawMessage   `json:"message,omitempty"`       // a server's body: a chat message or {"error":…}
	Stream       []json.RawMessage `json:"stream,omitempty"`        // a server's chunks
	Family       Family            `json:"family,omitempty"`        // empty means auto
	FinishReason string            `json:"finish_reason,omitempty"` // "length" means cut off; a server's own word is taken when empty
}

// Validate reports an unknown family, and anything but one completion. The
// error is a [*tools.Error].
func (in Input) Validate() error {
	given := 0
	for _, has := range []bool{in.Text != nil, in.hasMessage(), in.Stream != nil} {
		if has {
			given++
		}
	}
	if given != 1 {
		return refusal.New("", "exactly one of text, message, stream", "a completion is given as text, as a message or as a stream")
	}
	return in.Family.Validate()
}

func (in Input) hasMessage() bool { return len(in.Message) > 0 && string(in.Message) != "null" }

// Request is an Input together with the tools that were declared to the model:
// the body of POST /v1/parse.
type Request struct {
	Input
	Tools tools.Set `json:"tools,omitempty"`
}

// Read reads the request's completion; see [Reader.Read].
func (r Request) Read() (Reading, error) {
	return NewReader(r.Tools).Read(r.Input)
}
