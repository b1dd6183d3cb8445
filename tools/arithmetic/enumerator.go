package arithmetic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// enumerator encodes tasks and plans for the policy and plays them on the
// machines.
type enumerator struct {
	pcg        rand.PCG
	random     *rand.Rand // draws from pcg
	problem    Problem
	rules      string
	documented DocumentedMachine
	sound      SoundMachine
}

var _ tools.Enumerator = (*enumerator)(nil)

// NewEnumerator returns the token interface of the environment, on which package
// policy trains. It has the levels 0 to 4, and 0 to 2 under the documented rules.
// Under the sound rules Act returns the reward of a milestone when it is reached;
// the rewards of an episode add up to [SoundMachine.Reward]. Under the documented
// rules [EOS] does not end the episode; like any token without effect it takes a
// step.
func NewEnumerator() tools.Enumerator {
	e := &enumerator{}
	e.random = rand.New(&e.pcg)
	return e
}

// Start begins the task of a seed. Rules or levels that it does not have are an
// [*tools.Error] with code Invalid.
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

// stageOf returns the stage of a level.
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
	return 0, refusal.New("level", fmt.Sprintf("0 to %d", stages-1), "the %[2]s rules have no stage %[1]q", level, rules)
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

func (e *enumerator) HasShortcut() bool {
	if e.rules == tools.Documented {
		return NewDocumented(e.problem).hasShortcut()
	}
	return e.problem.HasShortcut()
}

// Target returns the answer that the rules reward. Under the documented rules it
// is not the one that the prompt describes, see defect 1.
func (e *enumerator) Target() int {
	if e.rules == tools.Documented {
		return e.documented.target
	}
	return e.problem.Target()
}

// Calls translates a plan into tool calls. Under the documented rules tools have no
// arguments; under the sound rules the arguments are the values of the machine.
// Tokens without effect and tokens after the end are left out.
func (e *enumerator) Calls(task tools.Task, plan []int) ([]tools.Call, error) {
	stage, err := stageOf(task.Rules, task.Level)
	if err != nil {
		return nil, err
	}
	if i := firstInvalid(plan); i >= 0 {
		return nil, refusal.New(fmt.Sprintf("/%d", i), "0 to 17", "unknown token %d", plan[i])
	}
	p := Draw(Seeded(task.Seed), stage)
	if task.Rules == tools.Documented {
		return documentedCalls(p, plan), nil
	}
	return soundCalls(p, plan), nil
}

// firstInvalid returns the index of the first token that is not in the vocabulary,
// or -1.
func firstInvalid(plan []int) int {
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

// typedArguments returns the JSON arguments of a token's tool, given the registers
// before the call. It returns "" if the token is not a tool, or if it is [ANS] and
// acc is empty.
func typedArguments(token int, r registers, tape []int) string {
	valueArgument := func(value int) string { return `{"value":` + strconv.Itoa(value) + `}` }
	switch token {
	case Mul, Add, Sub:
		a, b, _ := r.inputs(tape)
		return fmt.Sprintf(`{"a":%d,"b":%d}`, a, b)
	case Sto:
		return valueArgument(r.acc)
	case Rcl:
		return "{}"
	case Ans:
		if r.hasAcc {
			return valueArgument(r.acc)
		}
	}
	return ""
}

// toolName returns the name of a token's tool, or "" if the token is not a tool.
func toolName(token int) string {
	if token < Mul || token > Rcl {
		return ""
	}
	return [...]string{"multiply", "add", "subtract", "answer", "store", "recall"}[token-Mul]
}
