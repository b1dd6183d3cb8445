package arithmetic

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Stages is the number of stages: 0 to 2 are the published ones, 3 and 4 draw
// their operators too.
const Stages = 5

// A Problem is a computation with its operands and operators:
//
//	stages 0 and 3   (a ∘ b) ∘ c
//	stage  1         ((a ∘ b) ∘ c) ∘ d
//	stages 2 and 4   ((a ∘ b) ∘ c) ∘ (d ∘ e)
type Problem struct {
	Stage     int
	Operands  [5]int // a to e; stages 0, 1 and 3 ignore the last ones
	Operators [4]int // the operators ∘ from left to right, each Mul, Add or Sub; unused ones are 0
}

// stream separates the draws of this environment from those of others that
// use the same seed.
const stream = 0x61726974686d6574 // "arithmet"

// Seeded returns the random source of the task of a seed.
func Seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Draw draws a problem. At every stage it draws five operands from r, so that a
// seed gives the same operands at all stages; at stages 3 and 4 it then draws the
// operators. It panics if the stage is not one of 0 to 4.
func Draw(r *rand.Rand, stage int) Problem {
	p := Problem{Stage: stage, Operators: operators(stage)}
	for i := range p.Operands {
		p.Operands[i] = int(r.Uint32N(10)) // unlike IntN, Uint32N gives the same on 32 and 64 bits
	}
	if stage >= 3 {
		for i := range p.shape().operators {
			p.Operators[i] = Mul + int(r.Uint32N(3))
		}
	}
	return p
}

// Published returns a problem of one of the published stages 0 to 2, which have
// fixed operators. It panics for any other stage.
func Published(stage int, operands [5]int) Problem {
	if stage > 2 {
		panic(fmt.Sprintf("arithmetic: stage %d has no fixed operators", stage))
	}
	return Problem{Stage: stage, Operands: operands, Operators: operators(stage)}
}

// operators returns the operators of a stage; stages 3 and 4 draw theirs.
func operators(stage int) [4]int {
	return [Stages][4]int{{Mul, Add}, {Mul, Add, Sub}, {Mul, Add, Sub, Mul}, {}, {}}[stage]
}

// shape has the counts that all problems of a stage share.
type shape struct{ operands, operators, milestones int }

func (p Problem) shape() shape {
	return [Stages]shape{{3, 2, 2}, {4, 3, 3}, {5, 4, 6}, {3, 2, 2}, {5, 4, 6}}[p.Stage]
}

// goals are the intermediate values and the target: head is a ∘ b, left is
// (a ∘ b) ∘ c, right is d ∘ e.
type goals struct{ head, left, right, target int }

func (p Problem) goals() goals {
	o, s := p.Operands, p.Operators
	head := apply(s[0], o[0], o[1])
	left := apply(s[1], head, o[2])
	g := goals{head: head, left: left, target: left}
	switch p.Stage {
	case 1:
		g.target = apply(s[2], left, o[3])
	case 2, 4:
		g.right = apply(s[3], o[3], o[4])
		g.target = apply(s[2], left, g.right)
	}
	return g
}

// Target returns the correct answer under the sound rules.
func (p Problem) Target() int { return p.goals().target }

// Context appends the tokens of the policy's input: the operands, and at stages 3
// and 4 the operators between them.
func (p Problem) Context(buf []int) []int {
	for i := range p.shape().operands {
		if i > 0 && p.Stage >= 3 {
			buf = append(buf, p.Operators[i-1])
		}
		buf = append(buf, p.Operands[i])
	}
	return buf
}

// Plan appends the plan that works for all operands under the sound rules.
func (p Problem) Plan(buf []int) []int {
	s := p.Operators
	switch p.Stage {
	case 1:
		return append(buf, s[0], s[1], s[2], Ans)
	case 2, 4:
		return append(buf, s[0], s[1], Sto, s[3], Rcl, s[2], Ans)
	}
	return append(buf, s[0], s[1], Ans)
}

// Expression returns the problem in infix notation, such as (4*2+7)-(3*5). At
// stages 3 and 4 every operation has brackets: ((4+2)*7)-(3+5).
func (p Problem) Expression() string {
	var values [5]string
	for i, v := range p.Operands {
		values[i] = fmt.Sprint(v)
	}
	return p.format(values)
}

// format returns the expression with the given texts as operands.
func (p Problem) format(v [5]string) string {
	var s [4]string
	for i, operator := range p.Operators {
		s[i] = map[int]string{Mul: "*", Add: "+", Sub: "-"}[operator]
	}
	switch p.Stage {
	case 0:
		return v[0] + "*" + v[1] + "+" + v[2]
	case 1:
		return "(" + v[0] + "*" + v[1] + "+" + v[2] + ")-" + v[3]
	case 2:
		return "(" + v[0] + "*" + v[1] + "+" + v[2] + ")-(" + v[3] + "*" + v[4] + ")"
	case 3:
		return "(" + v[0] + s[0] + v[1] + ")" + s[1] + v[2]
	}
	return "((" + v[0] + s[0] + v[1] + ")" + s[1] + v[2] + ")" + s[2] + "(" + v[3] + s[3] + v[4] + ")"
}

// The tokens: the digits 0 to 9 are their own values; then come the start of a
// plan, the six tools and the end of a plan. Vocabulary is their number.
const (
	Ctx = 10 + iota // [CTX], ends the context and starts a plan
	Mul             // [MUL]
	Add             // [ADD]
	Sub             // [SUB]
	Ans             // [ANS]
	Sto             // [STO]
	Rcl             // [RCL]
	Eos             // [EOS]
	Vocabulary
)

// TokenText returns the text of a token, such as 7, [MUL] or [EOS]. It panics if
// the token is not in the vocabulary.
func TokenText(token int) string {
	names := [...]string{"[CTX]", "[MUL]", "[ADD]", "[SUB]", "[ANS]", "[STO]", "[RCL]", "[EOS]"}
	if token >= 0 && token < Ctx {
		return strconv.Itoa(token)
	}
	return names[token-Ctx]
}

// apply computes a ∘ b for the operator Mul, Add or Sub.
func apply(operator, a, b int) int {
	switch operator {
	case Mul:
		return a * b
	case Add:
		return a + b
	default:
		return a - b
	}
}
