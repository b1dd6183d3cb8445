package tools

import (
	"encoding/json"
	"fmt"
)

// A Call names a tool and carries its arguments as they were written.
type Call struct {
	ID        string          `json:"id,omitempty"` // set where the caller's protocol numbers its calls
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // a JSON object; absent means no arguments
}

// A Result is what a tool answers. Content is a JSON object. With IsError set
// it holds {"error": message} and tells the agent what it did wrong.
type Result struct {
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// encode turns a handler's answer, or the agent's mistake, into a Result.
func encode(v any) (Result, error) {
	content, err := json.Marshal(v)
	if err != nil {
		return Result{}, fmt.Errorf("encoding a tool's result: %w", err)
	}
	return Result{Content: content}, nil
}

// fail is the error result with the given message.
func fail(message string) Result {
	content, _ := json.Marshal(struct { // a struct of one string always encodes
		Error string `json:"error"`
	}{message})
	return Result{Content: content, IsError: true}
}
