package arithmetic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// enumerator plays the bare machines for the policy.
type enumerator struct {
	pcg        rand.PCG
	random     *rand.Rand // draws from pcg
	problem    Problem
	rules      string
	documented DocumentedMachine
	sound      SoundMachine
}

var _ tools.Enumerator = (*enumerator)(nil)

// NewEnumerator returns the environment as the policy sees it. Levels are the
// stages: 0 to 4, under the documented rules 0 to 2. Under the sound rules Act
// pays each milestone when it is reached; an episode's rewards add up to what
// the rules pay at its end. Under the documented rules [EOS] ends nothing: it
// costs a step, as every token without effect does.
func NewEnumerator() tools.Enumerator {
	e := &enumerator{}
	e.random = rand.New(&e.pcg)
	return e
}

// Start begins the task of a seed. Rules and levels without a machine are an
// [*tools.Error], code Invalid.
func (e *enumerator) Start(rules, level string, seed uint64) error {
	stage, err := stageOf(rules, level)
	if err != nil {
		return err
	}
	e.pcg.Seed(seed, stream)
	e.rules, e.problem = rules, Draw(e.random, stage)
	if rules == tools.Documented {
		e.documented = NewDocumented(e.problem)
	} else {
		e.sound = NewSound(e.problem)
	}
	return nil
}

// stageOf finds the machine's stage that a level names.
func stageOf(rules, level string) (int, error) {
	stages := Stages
	switch rules {
	case tools.Documented:
		stages = 3
	case tools.Sound:
	default:
		return 0, refusal.New("rules", "sound or documented", "unknown rules %q", rules)
	}
	if len(level) == 1 && level[0] >= '0' && int(level[0]-'0') < stages {
		return int(level[0] - '0'), nil
	}
	return 0, refusal.New("level", fmt.Sprintf("0 to %d", stages-1), "level %q has no stage under the %s rules", level, rules)
}

func (e *enumerator) Vocabulary() tools.Vocabulary {
	return tools.Vocabulary{Size: Vocabulary, Start: Ctx, End: Eos, FirstTool: Mul, LastTool: Rcl}
}

func (e *enumerator) Token(token int) string { return TokenText(token) }

func (e *enumerator) Context(buf []int) []int { return e.problem.Context(buf) }

func (e *enumerator) Limit() int {
	if e.rules == tools.Documented {
		return DocumentedLimit
	}
	return SoundLimit
}

func (e *enumerator) Act(token int) (reward float64, done bool) {
	if e.rules == tools.Documented {
		return e.documented.Step(token)
	}
	return e.sound.Step(token)
}

func (e *enumerator) Success() bool {
	if e.rules == tools.Documented {
		return e.documented.Success()
	}
	return e.sound.Success()
}

func (e *enumerator) Accidental() bool {
	if e.rules == tools.Documented {
		return NewDocumented(e.problem).accidental()
	}
	return e.problem.Accidental()
}

// Target is the answer that the rules reward. Under the documented rules it is
// one sub-goal behind the one that is described.
func (e *enumerator) Target() int {
	if e.rules == tools.Documented {
		return e.documented.target
	}
	return e.problem.Target()
}

// Calls translates a plan: under the documented rules a token is a tool's name;
// under the sound rules the machine's values become arguments. Tokens that do
// nothing are left out, and so is what stands behind the end.
func (e *enumerator) Calls(task tools.Task, plan []int) ([]tools.Call, error) {
	stage, err := stageOf(task.Rules, task.Level)
	if err != nil {
		return nil, err
	}
	if i := outside(plan); i >= 0 {
		return nil, refusal.New(fmt.Sprintf("/%d", i), "0 to 17", "%d is no token", plan[i])
	}
	p := Draw(Seeded(task.Seed), stage)
	if task.Rules == tools.Documented {
		return documentedCalls(p, plan), nil
	}
	return soundCalls(p, plan), nil
}

// outside finds the first token that is not in the vocabulary, or returns -1.
func outside(plan []int) int {
	for i, token := range plan {
		if token < 0 || token >= Vocabulary {
			return i
		}
	}
	return -1
}

func documentedCalls(p Problem, plan []int) []tools.Call {
	m := NewDocumented(p)
	var calls []tools.Call
	for _, token := range plan {
		_, done := m.Step(token)
		if name := toolName(token); name != "" {
			calls = append(calls, tools.Call{Name: name, Arguments: json.RawMessage("{}")})
		}
		if done {
			break
		}
	}
	return calls
}

func soundCalls(p Problem, plan []int) []tools.Call {
	m := NewSound(p)
	var calls []tools.Call
	for _, token := range plan {
		before := m.registers
		invalid := m.invalid
		_, done := m.Step(token)
		if arguments := typedArguments(token, before, m.tape()); arguments != "" && m.invalid == invalid {
			calls = append(calls, tools.Call{Name: toolName(token), Arguments: json.RawMessage(arguments)})
		}
		if done {
			break
		}
	}
	return calls
}

// typedArguments writes what a tool is called with in the given state; "" where
// the token is no tool or there is nothing to answer.
func typedArguments(token int, r registers, tape []int) string {
	one := func(value int) string { return `{"value":` + strconv.Itoa(value) + `}` }
	switch token {
	case Mul, Add, Sub:
		a, b, _ := r.pair(tape)
		return fmt.Sprintf(`{"a":%d,"b":%d}`, a, b)
	case Sto:
		return one(r.acc)
	case Rcl:
		return "{}"
	case Ans:
		if r.hasAcc {
			return one(r.acc)
		}
	}
	return ""
}

// toolName is the tool that a token stands for, "" where it stands for none.
func toolName(token int) string {
	if token < Mul || token > Rcl {
		return ""
	}
	return [...]string{"multiply", "add", "subtract", "answer", "store", "recall"}[token-Mul]
}
