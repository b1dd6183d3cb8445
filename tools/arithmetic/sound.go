package arithmetic

// SoundLimit is the number of steps after which the sound machine stops.
const SoundLimit = 8

// The rewards of a correct answer and of all milestones together.
const (
	answerReward    = 1.0
	milestoneReward = 0.5
)

// A SoundMachine follows the sound rules. It is a plain value: a copy is
// independent, and two machines can be compared with ==.
type SoundMachine struct {
	problem       Problem
	goals         goals
	registers     registers
	reached       int // number of milestones reached, in their order
	steps         int
	invalid       int
	done, success bool
}

// NewSound returns the machine for a problem of any stage.
func NewSound(p Problem) SoundMachine { return SoundMachine{problem: p, goals: p.goals()} }

// Step plays a token. It returns the increase of [SoundMachine.Reward], so that
// the gains of an episode add up to its reward, and whether the episode is over. A
// step after the end changes nothing.
func (m *SoundMachine) Step(token int) (gain float64, done bool) {
	if m.done {
		return 0, true
	}
	before := m.Reward()
	m.steps++
	switch {
	case token == Ans:
		m.success = m.registers.hasAcc && m.registers.acc == m.goals.target
		m.done = true
	case token == Eos:
		m.done = true
	case m.registers.execute(token, m.tape()):
		m.reached += bit(m.atMilestone())
	default:
		m.invalid++
	}
	m.done = m.done || m.steps == SoundLimit
	return m.Reward() - before, m.done
}

func (m *SoundMachine) tape() []int { return m.problem.Operands[:m.problem.shape().operands] }

// atMilestone reports whether the machine is at the next milestone. The last
// milestone, the target, is reached only by a correct answer.
func (m *SoundMachine) atMilestone() bool {
	r, g := &m.registers, &m.goals
	accIs := func(value int) bool { return r.hasAcc && r.acc == value }
	if m.reached == m.problem.shape().milestones-1 {
		return false
	}
	switch m.reached {
	case 0:
		return accIs(g.head)
	case 1:
		return accIs(g.left)
	case 2:
		return r.hasMem && r.mem == g.left
	case 3:
		return accIs(g.right) && r.hasMem && r.mem == g.left
	default:
		return r.hasLeft && r.left == g.left
	}
}

// Reward returns the reward of the episode so far:
//
//	[correct answer] + 0.5 · milestones reached / milestones of the stage
//
// Milestones count in their order only. A correct answer counts as all of them.
func (m *SoundMachine) Reward() float64 {
	if m.success {
		return answerReward + milestoneReward
	}
	return milestoneReward * float64(m.reached) / float64(m.problem.shape().milestones)
}

// Success reports whether the answer was correct.
func (m *SoundMachine) Success() bool { return m.success }

// Steps returns the number of tokens played, those after the end excluded.
func (m *SoundMachine) Steps() int { return m.steps }

// Invalid returns the number of invalid tokens played: tools without the values
// that they need, digits and [CTX].
func (m *SoundMachine) Invalid() int { return m.invalid }

// registers is the memory of the sound machine.
type registers struct {
	acc, left, mem          int
	next                    int // number of operands taken from the tape
	hasAcc, hasLeft, hasMem bool
}

// execute runs a tool on the registers. tape holds the operands. If a value that
// the tool needs is missing, it changes nothing and returns false.
func (r *registers) execute(token int, tape []int) bool {
	switch token {
	case Mul, Add, Sub:
		return r.combine(token, tape)
	case Sto:
		return r.store()
	case Rcl:
		return r.recall()
	}
	return false
}

// combine sets acc to left ∘ acc, acc ∘ next operand, or next ∘ next operand.
func (r *registers) combine(operator int, tape []int) bool {
	a, b, taken := r.inputs(tape)
	if taken < 0 {
		return false
	}
	r.acc, r.hasAcc = apply(operator, a, b), true
	r.left, r.hasLeft = 0, false
	r.next += taken
	return true
}

// inputs returns the two values that an operator combines, and how many of them
// come from the tape: -1 if a value is missing.
func (r *registers) inputs(tape []int) (a, b, taken int) {
	rest := tape[r.next:]
	switch {
	case r.hasLeft && r.hasAcc:
		return r.left, r.acc, 0
	case r.hasLeft:
		return 0, 0, -1
	case r.hasAcc && len(rest) >= 1:
		return r.acc, rest[0], 1
	case !r.hasAcc && len(rest) >= 2:
		return rest[0], rest[1], 2
	}
	return 0, 0, -1
}

// store moves acc to mem.
func (r *registers) store() bool {
	if !r.hasAcc {
		return false
	}
	r.mem, r.hasMem = r.acc, true
	r.acc, r.hasAcc = 0, false
	return true
}

// recall copies mem to left, or to acc if that is empty.
func (r *registers) recall() bool {
	switch {
	case !r.hasMem:
		return false
	case r.hasAcc:
		r.left, r.hasLeft = r.mem, true
	default:
		r.acc, r.hasAcc = r.mem, true
	}
	return true
}
