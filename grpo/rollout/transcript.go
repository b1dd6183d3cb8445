package rollout

import (
	"encoding/json"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// A Turn is one reply of the server.
type Turn struct {
	Prompt       string        `json:"prompt,omitempty"` // the raw route's: what the model was given
	Status       int           `json:"status"`
	Body         string        `json:"body"` // as it came
	PromptTokens int           `json:"prompt_tokens"`
	OutputTokens int           `json:"output_tokens"`
	DoneReason   string        `json:"done_reason,omitempty"`
	LogProbs     []float64     `json:"logprobs,omitempty"` // of the generated tokens, where the server gives them
	Duration     time.Duration `json:"duration_ns"`
}

// A Transcript is what model and environment said to each other on one task.
type Transcript struct {
	Family       parse.Family      `json:"family"`   // how the assistant's messages are read
	Messages     []json.RawMessage `json:"messages"` // after the prompt: the assistant's as they came, and the tools' results
	Turns        []Turn            `json:"turns"`
	FinishReason string            `json:"finish_reason"` // of the last turn; "length" is a cut-off
	Trajectory   tools.Trajectory  `json:"trajectory"`
	Failure      *grpo.Failure     `json:"failure"` // not the model's fault: can't be graded
}

// Completion is the transcript as the grader takes it.
func (t Transcript) Completion() grpo.Completion {
	family := t.Family
	if family == "" {
		family = parse.Structured
	}
	return grpo.Completion{Messages: t.Messages, Family: family, FinishReason: t.FinishReason, Failure: t.Failure}
}
