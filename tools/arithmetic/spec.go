package arithmetic

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"toolgym/internal/episode"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

const name = "arithmetic"

// Spec returns the description of the environment.
func Spec() tools.Spec {
	return tools.Spec{
		Name:        name,
		Description: "Small computations, step by step, with tools that calculate exactly.",
		Rules:       []string{tools.Sound, tools.Documented},
		Levels:      levels(tools.Sound),
		Tools:       toolsAt,
		NewTask:     newTask,
		New:         func() tools.Env { return &env{} },
		Oracle:      oracle{},
		Enumerate:   NewEnumerator,
	}
}

// The levels that are not stages.
const (
	large     = "large"     // stage 2 with operands up to maxOperand
	restraint = "restraint" // no tool is needed
	grounded  = "grounded"  // stage 1 with letters to be looked up
)

// maxOperand is the largest operand at level large.
const maxOperand = 1_000_000

// levels returns the levels of a rule set, or nil for unknown rules.
func levels(rules string) []string {
	switch rules {
	case tools.Sound:
		return []string{"0", "1", "2", "3", "4", large, restraint, grounded}
	case tools.Documented:
		return []string{"0", "1", "2"}
	}
	return nil
}

// levelExists reports whether the rules have the level. Empty names are the
// defaults.
func levelExists(rules, level string) bool {
	if rules == "" {
		rules = tools.Sound
	}
	return slices.Contains(levels(rules), level) || level == "" && levels(rules) != nil
}

// check returns an error for unknown rules or levels.
func check(rules, level string) error { return episode.CheckLevel(rules, level, levels) }

// problemOf returns the problem of a task at any level except restraint.
func problemOf(level string, seed uint64) Problem {
	r := Seeded(seed)
	switch level {
	case large:
		return drawLarge(r)
	case grounded:
		return Draw(r, 1)
	}
	return Draw(r, int(level[0]-'0'))
}

// drawLarge draws a problem of level large.
func drawLarge(r *rand.Rand) Problem {
	p := Published(2, [5]int{})
	for i := range p.Operands {
		p.Operands[i] = int(r.Uint32N(maxOperand + 1))
	}
	return p
}

// newTask returns a task with its prompt.
func newTask(rules, level string, seed uint64) (tools.Task, error) {
	if err := check(rules, level); err != nil {
		return tools.Task{}, err
	}
	ask := func(text string) []tools.Message { return []tools.Message{{Role: "user", Content: text}} }
	if level == restraint {
		return tools.Task{Prompt: ask(smallTalk(Seeded(seed))), NeedsNoCall: true}, nil
	}
	p := problemOf(level, seed)
	if rules == tools.Documented {
		return tools.Task{
			Prompt:  ask("Compute " + p.Expression() + ". Use the tools, then call answer when the last value is the result."),
			Optimal: NewDocumented(p).shortest(),
		}, nil
	}
	return tools.Task{Prompt: ask("Compute " + expressionAt(level, p) + ". " + lookupHint(level) + "Use the tools, then call answer with the result.")}, nil
}

// expressionAt returns the expression as the level shows it.
func expressionAt(level string, p Problem) string {
	if level == grounded {
		return p.format(letters())
	}
	return p.Expression()
}

// lookupHint returns the additional sentence of the prompt at level grounded.
func lookupHint(level string) string {
	if level == grounded {
		return "Look each letter up first. "
	}
	return ""
}

// letters returns the names of the operands at level grounded.
func letters() [5]string { return [5]string{"a", "b", "c", "d", "e"} }

// smallTalk draws the message of a task at level restraint.
func smallTalk(r *rand.Rand) string {
	messages := [...]string{
		"Hello!",
		"Hi there.",
		"Hey, good morning!",
		"Good evening. I just wanted to say hello.",
		"Good afternoon! I hope your day is going well.",
		"Hi, I'm Maria. Nice to meet you.",
		"Howdy!",
		"Greetings from Lisbon, where it is raining again.",
		"Hey, are you there?",
		"Hello again! We spoke yesterday.",
		"How are you today?",
		"What's up?",
		"Long time no see!",
		"Happy new year!",
		"Merry Christmas to you and everyone who built you.",
		"Today is my birthday, wish me luck!",
		"Thank you!",
		"Thanks a lot, that was exactly what I needed.",
		"Thanks for your help earlier.",
		"Great job, thank you so much!",
		"You're a lifesaver. Thanks!",
		"Perfect, that answers my question.",
		"I appreciate your patience with me.",
		"Cheers, that worked on the first try.",
		"Never mind, I found it myself. Thanks anyway.",
		"That's all for now, thank you.",
		"Bye, see you tomorrow!",
		"Good night!",
		"Talk to you later.",
		"Have a nice weekend!",
		"Who are you?",
		"What is your name?",
		"What kinds of things can you help me with?",
		"Are you a person or a program?",
		"Do you ever get tired?",
		"Do you speak other languages as well?",
		"Can you introduce yourself in one sentence?",
		"Do you like your work?",
		"Who made you?",
		"Do you remember our last conversation?",
		"Can you feel bored?",
		"What should I call you?",
		"Are you able to make mistakes?",
		"I'm feeling a bit nervous about my exam. Just say something nice.",
		"I had a wonderful walk in the park today.",
		"Sorry for the late reply, I was out for lunch.",
		"Ok, sounds good.",
		"No worries, take your time.",
		"I like the way you explain things.",
		"Just testing whether this chat works. Say something!",
	}
	return messages[r.Uint32N(uint32(len(messages)))]
}

// oracle solves every task with its tools.
type oracle struct{}

var _ tools.Agent = oracle{}

func (oracle) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	if err := check(task.Rules, task.Level); err != nil {
		return err
	}
	if task.Level == restraint {
		speaker, ok := caller.(tools.Speaker)
		if !ok {
			return refusal.New("", "a tools.Speaker", "level restraint is solved by a message, but the caller does not accept messages")
		}
		_, err := speaker.Say(ctx, "You're welcome! I'm an assistant that can compute for you whenever you need it.")
		return err
	}
	p := problemOf(task.Level, task.Seed)
	s := &solver{step: func(call tools.Call) (tools.Step, error) { return caller.Step(ctx, call) }}
	if task.Rules == tools.Documented {
		return s.playFixedPlan(p.Stage)
	}
	return s.compute(p, task.Level == grounded)
}

// solver makes calls until one fails.
type solver struct {
	step func(tools.Call) (tools.Step, error)
	err  error
}

// playFixedPlan plays the best fixed plan of the documented rules.
func (s *solver) playFixedPlan(stage int) error {
	for _, tool := range append([]string{"multiply", "add", "subtract"}[:stage+1], "answer") {
		s.call(tool, "{}")
	}
	return s.err
}

// compute solves the problem with one call per operation, each with the results
// of earlier calls.
func (s *solver) compute(p Problem, lookUp bool) error {
	var v [5]string
	for i := range p.shape().operands {
		v[i] = strconv.Itoa(p.Operands[i])
		if lookUp {
			v[i] = s.call("lookup", fmt.Sprintf(`{"name":%q}`, letters()[i]))
		}
	}
	value := s.apply(p.Operators[0], v[0], v[1])
	value = s.apply(p.Operators[1], value, v[2])
	switch p.Stage {
	case 1:
		value = s.apply(p.Operators[2], value, v[3])
	case 2, 4:
		s.call("store", `{"value":`+value+`}`)
		right := s.apply(p.Operators[3], v[3], v[4])
		value = s.apply(p.Operators[2], s.call("recall", "{}"), right)
	}
	s.call("answer", `{"value":`+value+`}`)
	return s.err
}

func (s *solver) apply(operator int, a, b string) string {
	return s.call(toolName(operator), `{"a":`+a+`,"b":`+b+`}`)
}

// call makes a call and returns the number of its result, or "" if it has none.
func (s *solver) call(tool, arguments string) string {
	if s.err != nil {
		return ""
	}
	step, err := s.step(tools.Call{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		s.err = err
		return ""
	}
	if step.Result.IsError {
		s.err = fmt.Errorf("the oracle's call of %s failed: %s", tool, step.Result.Content)
		return ""
	}
	var answer result
	if err := json.Unmarshal(step.Result.Content, &answer); err != nil {
		s.err = fmt.Errorf("reading the result of %s: %w", tool, err)
	}
	return string(answer.Result)
}
