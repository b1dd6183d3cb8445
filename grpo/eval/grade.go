package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// grade scores one transcript of the item. What the grader refuses as no
// completion is the harness's failure; an error is the context's.
func (i Item) grade(ctx context.Context, scorer *grpo.Scorer, transcript rollout.Transcript) (grpo.Score, error) {
	request := grpo.Request{Groups: []grpo.Group{i.group(transcript.Completion())}}
	response, err := scorer.Score(ctx, request)
	if ctx.Err() != nil {
		return grpo.Score{}, fmt.Errorf("grading %s: %w", i.Task.ID, ctx.Err())
	}
	refused, isRefused := errors.AsType[*tools.Error](err)
	switch {
	case isRefused:
		return grpo.Score{Failure: &grpo.Failure{Kind: grpo.FailureHarness, Reason: "grading: " + refused.Error()}}, nil
	case err != nil:
		return grpo.Score{}, fmt.Errorf("grading %s: %w", i.Task.ID, err)
	}
	return response.Groups[0].Completions[0], nil
}

// fill sets what the record's figures are, from the transcript and its score.
func (r *Record) fill(transcript rollout.Transcript, score grpo.Score) error {
	r.Score, r.FinishReason = score, transcript.FinishReason
	r.Turns, r.PromptTokens, r.OutputTokens, r.Duration = len(transcript.Turns), 0, 0, time.Duration(0)
	for _, turn := range transcript.Turns {
		r.PromptTokens += turn.PromptTokens
		r.OutputTokens += turn.OutputTokens
		r.Duration += turn.Duration
	}
	text, err := json.Marshal(transcript)
	if err != nil {
		return fmt.Errorf("encoding the transcript of %s: %w", r.Task, err)
	}
	r.Transcript = text
	return nil
}

// Rescore grades kept trials again, without the model, and returns them with
// their new scores. With the same rubric they are the same to the byte.
func Rescore(ctx context.Context, items []Item, scorer *grpo.Scorer, records []Record) ([]Record, error) {
	byID := make(map[string]Item, len(items))
	for _, item := range items {
		byID[item.Task.ID] = item
	}
	again := make([]Record, len(records))
	for i, r := range records {
		item, ok := byID[r.Task]
		if !ok {
			return nil, &tools.Error{Code: tools.NotFound, Where: r.Task, Message: "the task of a trial is not in the run", Want: "the run's own tasks"}
		}
		var transcript rollout.Transcript
		if err := json.Unmarshal(r.Transcript, &transcript); err != nil {
			return nil, fmt.Errorf("decoding a transcript of %s: %w", r.Task, err)
		}
		score, err := item.grade(ctx, scorer, transcript)
		if err != nil {
			return nil, err
		}
		r.Score = score
		again[i] = r
	}
	return again, nil
}
