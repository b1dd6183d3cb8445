package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"toolgym/grpo"
	"toolgym/policy"
	"toolgym/tools"
)

// answering is the tool by which arithmetic's agents hand their answer in.
const answering = "answer"

// An episode is a column of the page.
type episode struct {
	Side, Title, Label string // Side is the setting's name
	Notes              []string
	Playable           bool // a model, which plays when it is told to
	Known              bool // there is an episode to show
	Reward, Parts      string
	Failure            string
	Success            bool
	Turns              []turn
	Rest               []token // of a policy's plan, behind the last call
	Critic             string  // what the numbers beside tokens are
	Left               int     // turns that are not shown
	Answer             string  // what was said last, or else called
	Called             bool    // it is a call, and not of the tool that hands an answer in
	Frames             []frame
}

// A turn is one message of the agent, and what came of it.
type turn struct {
	Step            int
	Thought, Spoken string
	Tokens          []token
	Calls           []call
	More            int // calls that are not shown
}

// A token is a word of a policy's plan.
type token struct {
	Text  string
	Prob  float64
	Value *float64 // what the critic expects; nil of a policy that has none
}

// A call is a call with its verdict.
type call struct {
	Name, Arguments, Result string
	Verdict, Mood           string // Mood is the class of its badge
	Wrong                   []string
}

// A frame is the world as it stands after a step, drawn by its environment.
type frame struct {
	Step    int
	Picture template.HTML
	Words   string
	Last    bool
}

// show fills a column in.
func (e *episode) show(ctx context.Context, s scene, t take, score grpo.Score) error {
	e.Known, e.Success = true, score.Success
	e.Reward, e.Parts = "unknown", sharesOf(score)
	if score.Reward != nil {
		e.Reward = trimmed(*score.Reward, false)
	}
	if score.Failure != nil {
		e.Failure = score.Failure.Reason
	}
	e.Turns = turnsOf(t.completion, score)
	e.plan(s, t.plan, t.said)
	if n := len(e.Turns); n > 0 {
		e.Answer, e.Called = e.Turns[n-1].last()
	}
	if err := e.draw(ctx, s); err != nil {
		return err
	}
	e.bound()
	return nil
}

// last is what an agent said last, or else called last.
func (t turn) last() (text string, called bool) {
	if n := len(t.Calls); n > 0 {
		return t.Calls[n-1].Name + " " + t.Calls[n-1].Arguments, t.Calls[n-1].Name != answering
	}
	return t.Spoken, false
}

// turnsOf reads the messages of the assistant, and puts the calls that the grader
// found in them beside.
func turnsOf(c grpo.Completion, score grpo.Score) (list []turn) {
	for _, text := range c.Messages {
		var message struct {
			Role, Content, Thinking, Reasoning, Error string
		}
		if err := json.Unmarshal(text, &message); err != nil {
			message.Content = string(text) // shown as it came
		}
		if message.Role != "assistant" && message.Role != "" {
			continue
		}
		list = append(list, turn{Step: len(list) + 1, Thought: message.Thinking + message.Reasoning, Spoken: message.Content + message.Error})
	}
	for _, found := range score.Calls {
		if found.Turn < len(list) {
			list[found.Turn].Calls = append(list[found.Turn].Calls, callOf(found))
		}
	}
	return list
}

func callOf(c grpo.Call) call {
	shown := call{Name: c.Name, Arguments: string(c.Arguments), Verdict: strings.ReplaceAll(c.Verdict, "_", " ")}
	if len(c.Arguments) == 0 || string(c.Arguments) == "null" {
		shown.Arguments = c.Raw
	}
	if c.Result != nil {
		shown.Result = string(c.Result.Content)
	}
	switch c.Verdict {
	case grpo.VerdictRight, grpo.VerdictExecuted:
		shown.Mood = "good"
	case grpo.VerdictUnjudged, grpo.VerdictExtra, grpo.VerdictRepeated:
		shown.Mood = "warn"
	default:
		shown.Mood = "bad"
	}
	for _, v := range c.Violations {
		shown.Wrong = append(shown.Wrong, strings.TrimPrefix(v.Pointer+" ", " ")+v.Message)
	}
	for _, d := range c.Defects {
		shown.Wrong = append(shown.Wrong, strings.ReplaceAll(string(d), "_", " "))
	}
	return shown
}

// plan gives each turn the tokens that led to it. A policy that was not asked
// said nothing.
func (e *episode) plan(s scene, plan []int, said policy.PlanLogProbs) {
	if len(plan) == 0 {
		return
	}
	env, made, from := s.spec.Enumerate(), 0, 0
	for i := range plan {
		calls, err := env.Calls(s.task, plan[:i+1])
		if err != nil || len(calls) == made || made >= len(e.Turns) {
			continue
		}
		e.Turns[made].Tokens = s.tokens(plan, said, from, i+1)
		made, from = len(calls), i+1
	}
	e.Rest = s.tokens(plan, said, from, len(plan))
}

// tokens are some of a plan's, with the policy's probabilities and values.
func (s scene) tokens(plan []int, said policy.PlanLogProbs, from, to int) (list []token) {
	env := s.spec.Enumerate()
	for i := from; i < to; i++ {
		word := token{Text: env.Token(plan[i]), Prob: prob(said.LogProbs[i])}
		if said.Values != nil {
			word.Value = &said.Values[i]
		}
		list = append(list, word)
	}
	return list
}

// criticOf says what the numbers beside a policy's tokens are. GRPO trains no
// critic: the head of the network that would be one is as it was drawn.
func criticOf(p player) string {
	switch {
	case p.net == nil:
		return ""
	case p.net.Config().Update == policy.UpdateGRPO:
		return "p: probability of a token, given those before it. GRPO trains no critic, so no value is shown."
	case p.name == agentBase:
		return "p: probability of a token, given those before it. v: what the critic expects, which is untrained too."
	}
	return "p: probability of a token, given those before it. v: what the critic expects from there on."
}

// draw draws the world before the first call and after each turn, where the
// environment can.
func (e *episode) draw(ctx context.Context, s scene) error {
	env := s.spec.New()
	picture, ok := env.(interface{ SVG() string })
	if !ok {
		return nil
	}
	if _, err := env.Reset(ctx, s.task); err != nil {
		return err
	}
	e.Frames = []frame{frameOf(0, picture.SVG())}
	over := false
	for _, t := range e.Turns {
		for _, c := range t.Calls {
			if over || c.Result == "" {
				continue
			}
			step, err := env.Step(ctx, tools.Call{Name: c.Name, Arguments: json.RawMessage(c.Arguments)})
			if err != nil {
				return fmt.Errorf("drawing %s: %w", s.task.ID, err)
			}
			over = step.Done()
		}
		e.Frames = append(e.Frames, frameOf(t.Step, picture.SVG()))
	}
	return nil
}

// frameOf takes the words out of a picture, in which they would stand twice.
func frameOf(step int, svg string) frame {
	_, words, _ := strings.Cut(svg, "<desc>")
	words, _, _ = strings.Cut(words, "</desc>")
	return frame{Step: step, Picture: template.HTML(strings.Replace(svg, "<desc>"+words+"</desc>", "", 1)), Words: words} //nolint:gosec // an environment's own drawing, of numbers alone
}
