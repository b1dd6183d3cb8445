package arithmetic

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Stages is the number of stages: 0 to 2 are the published ones, 3 and 4 draw
// their operators too.
const Stages = 5

// A Problem is what a machine is asked to compute, fully drawn:
//
//	stages 0 and 3   (a ∘ b) ∘ c
//	stage  1         ((a ∘ b) ∘ c) ∘ d
//	stages 2 and 4   ((a ∘ b) ∘ c) ∘ (d ∘ e)
type Problem struct {
	Stage     int
	Operands  [5]int // a to e; a stage may leave the last ones out
	Operators [4]int // ∘ from left to right as written, each Mul, Add or Sub; 0 where there is none
}

// stream separates the draws of this environment from those of others that
// use the same seed.
const stream = 0x61726974686d6574 // "arithmet"

// Seeded returns the source from which the task of a seed is drawn.
func Seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Draw draws a problem. It takes five operands from r at every stage, so that a
// seed gives the same operands everywhere, and then, at stages 3 and 4, the
// operators. It panics if the stage is not one of 0 to 4.
func Draw(r *rand.Rand, stage int) Problem {
	p := Problem{Stage: stage, Operators: operators(stage)}
	for i := range p.Operands {
		p.Operands[i] = int(r.Uint32N(10)) // Uint32N draws alike on 32 and 64 bits, IntN does not
	}
	if stage >= 3 {
		for i := range p.shape().operators {
			p.Operators[i] = Mul + int(r.Uint32N(3))
		}
	}
	return p
}

// Published makes a problem of the stages 0 to 2, whose operators are given.
// It panics if the stage is another.
func Published(stage int, operands [5]int) Problem {
	if stage > 2 {
		panic(fmt.Sprintf("arithmetic: stage %d draws its operators", stage))
	}
	return Problem{Stage: stage, Operands: operands, Operators: operators(stage)}
}

func operators(stage int) [4]int {
	return [Stages][4]int{{Mul, Add}, {Mul, Add, Sub}, {Mul, Add, Sub, Mul}, {}, {}}[stage]
}

// shape is what the problems of a stage have in common.
type shape struct{ operands, operators, milestones int }

func (p Problem) shape() shape {
	return [Stages]shape{{3, 2, 2}, {4, 3, 3}, {5, 4, 6}, {3, 2, 2}, {5, 4, 6}}[p.Stage]
}

// goals are the values on the way to the target: head is a ∘ b, left is
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

// Target is the value that the sound rules ask for.
func (p Problem) Target() int { return p.goals().target }

// Context appends the tokens that the policy is shown: the operands, and at
// stages 3 and 4 the operators between them.
func (p Problem) Context(buf []int) []int {
	for i := range p.shape().operands {
		if i > 0 && p.Stage >= 3 {
			buf = append(buf, p.Operators[i-1])
		}
		buf = append(buf, p.Operands[i])
	}
	return buf
}

// Plan appends the plan that the stage teaches under the sound rules.
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

// Expression writes the problem as people do: (4*2+7)-(3*5). Where operators
// are drawn, every step has its brackets: ((4+2)*7)-(3+5).
func (p Problem) Expression() string {
	var values [5]string
	for i, v := range p.Operands {
		values[i] = fmt.Sprint(v)
	}
	return p.write(values)
}

// write puts names or values in the operands' places.
func (p Problem) write(v [5]string) string {
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

// The vocabulary: the digits 0 to 9 stand for themselves, then the context
// mark, the six tools and the end of a plan.
const (
	Ctx = 10 + iota // [CTX], the mark from which a plan starts
	Mul             // [MUL]
	Add             // [ADD]
	Sub             // [SUB]
	Ans             // [ANS]
	Sto             // [STO]
	Rcl             // [RCL]
	Eos             // [EOS]
	Vocabulary
)

// TokenText writes a token as plans print it: 7, [MUL], [EOS]. It panics if
// the token is outside of the vocabulary.
func TokenText(token int) string {
	names := [...]string{"[CTX]", "[MUL]", "[ADD]", "[SUB]", "[ANS]", "[STO]", "[RCL]", "[EOS]"}
	if token >= 0 && token < Ctx {
		return strconv.Itoa(token)
	}
	return names[token-Ctx]
}

// apply computes a ∘ b, where ∘ is one of the tokens Mul, Add and Sub.
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
