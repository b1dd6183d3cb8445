//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/internal/contest"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

const (
	expectedCalls = `[{"name":"multiply","arguments":{"a":4,"b":2}}]`
	groupSize     = 8
	reasoning     = "The task asks for a product first and then a sum. I have both operands of the product in the message above, so the next step is to multiply them with the tool and then to wait for what it answers.\n"
)

// work is what all contestants score.
type work struct {
	texts  []string
	tools  []byte // as JSON
	groups []grpo.Group
	lines  []byte // the same as a scoring file
	scorer *grpo.Scorer
}

func newWork(completions int) (*work, error) {
	set := arithmetic.Spec().Tools("", "")
	scorer, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		return nil, err
	}
	w := &work{scorer: scorer}
	if w.tools, err = json.Marshal(set); err != nil {
		return nil, fmt.Errorf("encoding the tools: %w", err)
	}
	expected := &match.Expected{}
	if err := json.Unmarshal([]byte(expectedCalls), &expected.Calls); err != nil {
		return nil, fmt.Errorf("decoding the expected calls: %w", err)
	}
	for i := range completions {
		if err := w.add(i, set, expected); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// add writes completion i in every form. The lines carry three tools, so that
// they are 1.1 kB long.
func (w *work) add(i int, set tools.Set, expected *match.Expected) error {
	text := fmt.Sprintf("<think>\n%s</think>\n\n<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 4, \"b\": %d}}\n</tool_call>", reasoning, 2+i%2)
	w.texts = append(w.texts, text)
	if i%groupSize == 0 {
		w.groups = append(w.groups, grpo.Group{ID: fmt.Sprint(i / groupSize), Tools: set, Expected: expected})
	}
	g := &w.groups[len(w.groups)-1]
	g.Completions = append(g.Completions, grpo.Completion{Text: &text, Family: "hermes"})
	line, err := json.Marshal(struct {
		Group    string          `json:"group"`
		Tools    tools.Set       `json:"tools"`
		Expected *match.Expected `json:"expected"`
		Text     string          `json:"text"`
		Family   string          `json:"family"`
	}{g.ID, set[:3], expected, text, "hermes"})
	w.lines = append(append(w.lines, line...), '\n')
	return err
}

// inMemory scores all groups once.
func (w *work) inMemory() (time.Duration, float64, error) {
	return timed(func() (grpo.Metrics, error) {
		response, err := w.scorer.Score(context.Background(), grpo.Request{Groups: w.groups})
		return response.Metrics, err
	}, len(w.texts))
}

// onCores scores all groups once, by that many cores, and tells the wall time.
func (w *work) onCores(n int) func() (time.Duration, float64, error) {
	return func() (time.Duration, float64, error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		start := time.Now()
		response, err := w.scorer.Score(context.Background(), grpo.Request{Groups: w.groups})
		if err != nil {
			return 0, 0, err
		}
		return time.Since(start), *response.Metrics[grpo.MetricReward] * float64(len(w.texts)), nil
	}
}

// stream scores the file once.
func (w *work) stream() (time.Duration, float64, error) {
	return timed(func() (grpo.Metrics, error) {
		return w.scorer.Stream(context.Background(), bytes.NewReader(w.lines), io.Discard, grpo.StreamOptions{Grouped: true, Workers: 1})
	}, len(w.texts))
}

// timed returns the CPU time that score took, and the sum of the rewards.
func timed(score func() (grpo.Metrics, error), n int) (time.Duration, float64, error) {
	start, err := contest.CPU()
	if err != nil {
		return 0, 0, err
	}
	metrics, err := score()
	if err != nil {
		return 0, 0, err
	}
	end, err := contest.CPU()
	return end - start, *metrics[grpo.MetricReward] * float64(n), err
}
