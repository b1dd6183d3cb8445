package grpo

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/grpo/match"
	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A Request asks for the scores of groups of completions. It is the body of
// POST /v1/score; what is left out is the Scorer's own.
type Request struct {
	Rubric        *Rubric                 `json:"rubric,omitempty"`
	Normalization objective.Normalization `json:"normalization,omitempty"`
	Aggregation   objective.Aggregation   `json:"aggregation,omitempty"`
	Loss          *objective.Config       `json:"loss,omitempty"`
	Groups        []Group                 `json:"groups"`
}

// A Group is the completions of one prompt. What they are graded against is a
// task of one of the Scorer's environments, or tools and what is expected.
type Group struct {
	ID          string          `json:"id"`
	TaskID      string          `json:"task_id,omitempty"`
	Tools       tools.Set       `json:"tools,omitempty"`
	Expected    *match.Expected `json:"expected,omitempty"`
	Completions []Completion    `json:"completions"`
}

// A Completion is what a model made of a prompt: one text, or the messages of
// an episode. Messages are those of a chat: the assistant's as the server sent
// them, with any further fields, and the tools' results in between; system and
// user messages are passed over.
type Completion struct {
	Text         *string           `json:"text,omitempty"`
	Messages     []json.RawMessage `json:"messages,omitempty"`
	Family       parse.Family      `json:"family,omitempty"`
	FinishReason string            `json:"finish_reason,omitempty"` // of the last message; "length" means cut off
	// Tokens is the number of tokens generated, where the caller knows it and
	// gives no log-probabilities. Nothing is tokenised here.
	Tokens *int `json:"tokens,omitempty"`

	// LogProbs are those of the policy for the completion's tokens, OldLogProbs
	// those of the policy that sampled, RefLogProbs those of the reference.
	// Mask has 1 for the model's own tokens and 0 for others.
	LogProbs    []float64 `json:"logprobs,omitempty"`
	OldLogProbs []float64 `json:"old_logprobs,omitempty"`
	RefLogProbs []float64 `json:"ref_logprobs,omitempty"`
	Mask        []int     `json:"mask,omitempty"`

	// Played is the episode that gave the messages, where the caller played it
	// in the task's environment; nil means that the calls are replayed. Failure
	// is set where something other than the model failed.
	Played  *tools.Trajectory `json:"-"`
	Failure *Failure          `json:"-"`
}

// Validate reports the first mistake in what was asked, by JSON pointer.
// Everything else is a matter of one completion and does not fail the request.
func (r Request) Validate() error {
	if r.Rubric != nil {
		if err := r.Rubric.Validate(); err != nil {
			return refusal.Below("/rubric", err)
		}
	}
	switch r.Normalization {
	case "", objective.NormalizeGroup, objective.NormalizeBatch, objective.NormalizeNone:
	default:
		return refusal.New("/normalization", "group, batch or none", "unknown normalization %q", clip(string(r.Normalization)))
	}
	switch r.Aggregation {
	case "", objective.SumThenNormalize, objective.NormalizeThenSum:
	default:
		return refusal.New("/aggregation", "sum_then_normalize or normalize_then_sum", "unknown aggregation %q", clip(string(r.Aggregation)))
	}
	if r.Loss != nil {
		if err := r.Loss.Validate(); err != nil {
			return refusal.Below("/loss/", err)
		}
	}
	return inParallel(context.Background(), len(r.Groups), func() work {
		return func(i int) error {
			if err := r.Groups[i].validate(); err != nil {
				return refusal.Below(fmt.Sprintf("/groups/%d", i), err)
			}
			return nil
		}
	})
}

func (g Group) validate() error {
	switch {
	case g.TaskID != "" && (g.Tools != nil || g.Expected != nil):
		return refusal.New("/task_id", "either task_id, or tools and expected", "both are given")
	case g.TaskID == "" && g.Expected == nil:
		return refusal.New("", "either task_id, or tools and expected", "neither is given")
	}
	if err := g.Tools.Validate(); err != nil {
		return err
	}
	for i, c := range g.Completions {
		if err := c.validate(); err != nil {
			return refusal.Below(fmt.Sprintf("/completions/%d", i), err)
		}
	}
	return nil
}

func (c Completion) validate() error {
	if (c.Text == nil) == (c.Messages == nil) && c.Failure == nil {
		return refusal.New("", "either text or messages", "%s", both(c.Text != nil))
	}
	if c.Tokens != nil && *c.Tokens < 0 {
		return refusal.New("/tokens", "a number of tokens", "%d", *c.Tokens)
	}
	n := len(c.LogProbs)
	for _, list := range []struct {
		name   string
		length int
	}{{"old_logprobs", len(c.OldLogProbs)}, {"ref_logprobs", len(c.RefLogProbs)}, {"mask", len(c.Mask)}} {
		if list.length != 0 && list.length != n {
			return refusal.New("/"+list.name, "one entry a token", "%d entries for %d logprobs", list.length, n)
		}
	}
	return c.Family.Validate()
}

func both(yes bool) string {
	if yes {
		return "both text and messages are given"
	}
	return "neither text nor messages are given"
}
