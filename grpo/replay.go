package grpo

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// replay makes the calls, in order, in a fresh copy of the task's environment,
// and says what it is told where a turn has none. The credit is 1 when the end
// state is right and no call is left over after the end.
func (t *task) replay(ctx context.Context, s *Score, turns []turn) (float64, error) {
	env := t.spec.New()
	if _, err := env.Reset(ctx, t.task); err != nil {
		return 0, fmt.Errorf("resetting to %s: %w", t.task.ID, err)
	}
	r := replay{env: env, score: s}
	for i := range turns {
		if err := r.turn(ctx, i, &turns[i]); err != nil {
			return 0, err
		}
	}
	return r.credit(env.Success()), nil
}

// replay is the state of one replay.
type replay struct {
	env   tools.Env
	score *Score
	next  int  // the first attempt that was not looked at
	done  bool // the episode is over
	late  bool // a call came after that
}

func (r *replay) credit(success bool) float64 {
	if r.late {
		r.score.note(DefectCallAfterEnd)
	}
	if success && !r.late {
		return 1
	}
	return 0
}

func (r *replay) turn(ctx context.Context, i int, t *turn) error {
	called := 0
	for ; r.next < len(r.score.Calls) && r.score.Calls[r.next].Turn == i; r.next++ {
		c := &r.score.Calls[r.next]
		if !c.Counts() {
			continue
		}
		if err := r.call(ctx, c); err != nil {
			return err
		}
		r.score.compareResult(c, t, called)
		called++
	}
	if called > 0 || r.done {
		return nil
	}
	return r.say(ctx, t.reading.Content)
}

func (r *replay) call(ctx context.Context, c *Call) error {
	if r.done {
		c.Verdict, r.late = VerdictAfterEnd, true
		return nil
	}
	step, err := r.env.Step(ctx, c.Call())
	if err != nil {
		return fmt.Errorf("calling %s: %w", c.Name, err)
	}
	r.done = step.Done()
	c.answered(step.Result)
	return nil
}

func (r *replay) say(ctx context.Context, text string) error {
	speaker, ok := r.env.(tools.Speaker)
	if !ok {
		return nil
	}
	step, err := speaker.Say(ctx, text)
	if err != nil {
		return fmt.Errorf("saying: %w", err)
	}
	r.done = step.Done()
	return nil
}

// answered keeps the environment's answer.
func (c *Call) answered(result tools.Result) {
	c.Result, c.Verdict = &result, VerdictExecuted
	if result.IsError {
		c.Verdict = VerdictRefused
	}
}

// compareResult compares the environment's answer to the turn's call number n
// with the one of the transcript, if that has one.
func (s *Score) compareResult(c *Call, t *turn, n int) {
	if c.Result == nil {
		return
	}
	text, ok := t.answerTo(c.ID, n)
	if !ok || sameResult(text, c.Result.Content) {
		return
	}
	c.Given, _ = json.Marshal(text) // a string always encodes
	s.note(DefectResultMismatch)
}

// answerTo finds the transcript's answer to a call: by its id where the results
// carry ids, otherwise by its place.
func (t *turn) answerTo(id string, n int) (text string, ok bool) {
	for _, g := range t.given {
		if g.id != "" && g.id == id {
			return g.content, true
		}
	}
	if n < len(t.given) && t.given[n].id == "" {
		return t.given[n].content, true
	}
	return "", false
}

// sameResult compares by value, so that spelling does not count.
func sameResult(text string, content json.RawMessage) bool {
	have, err := strictjson.Decode([]byte(text))
	if err != nil {
		return text == string(content)
	}
	want, err := strictjson.Decode(content)
	return err == nil && strictjson.Equal(want, have)
}

// follow takes over what an episode that was already played made of the calls.
// The steps stand in the order of the calls that count; calls beyond the last
// step came after the end.
func (t *task) follow(s *Score, played *tools.Trajectory) float64 {
	r := replay{score: s}
	step := 0
	for i := range s.Calls {
		c := &s.Calls[i]
		if !c.Counts() {
			continue
		}
		for step < len(played.Steps) && played.Steps[step].Call.Name == "" {
			step++ // something was said
		}
		if step == len(played.Steps) {
			c.Verdict, r.late = VerdictAfterEnd, played.Terminated || played.Truncated
			continue
		}
		c.answered(played.Steps[step].Result)
		step++
	}
	return r.credit(played.Success)
}
