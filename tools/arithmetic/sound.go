package arithmetic

// SoundLimit is the number of steps after which the sound machine stops.
const SoundLimit = 8

// The most that a correct answer and the milestones pay.
const (
	answerReward    = 1.0
	milestoneReward = 0.5
)

// A SoundMachine follows the sound rules. It is a plain value: copy it to try
// something, compare it with ==.
type SoundMachine struct {
	problem       Problem
	goals         goals
	registers     registers
	reached       int // milestones, in their order
	steps         int
	invalid       int
	done, success bool
}

// NewSound sets up the machine for a problem of any stage.
func NewSound(p Problem) SoundMachine { return SoundMachine{problem: p, goals: p.goals()} }

// Step plays a token. The gain is what it adds to [SoundMachine.Reward]: the
// gains of an episode add up to its reward. done tells that the episode is
// over; a step after the end changes nothing.
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
	case m.registers.play(token, m.tape()):
		m.reached += bit(m.atMilestone())
	default:
		m.invalid++
	}
	m.done = m.done || m.steps == SoundLimit
	return m.Reward() - before, m.done
}

func (m *SoundMachine) tape() []int { return m.problem.Operands[:m.problem.shape().operands] }

// atMilestone tells whether the state is that of the next milestone. The last
// one, the target, is reached by a correct answer only.
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

// Reward is what the episode pays at its end, as the state stands: 1 for a
// correct answer, and up to 0.5 for the share of the milestones reached in
// their order. A correct answer counts as all of them.
func (m *SoundMachine) Reward() float64 {
	if m.success {
		return answerReward + milestoneReward
	}
	return milestoneReward * float64(m.reached) / float64(m.problem.shape().milestones)
}

// Success reports a correct answer.
func (m *SoundMachine) Success() bool { return m.success }

// Steps is the number of tokens played before the end.
func (m *SoundMachine) Steps() int { return m.steps }

// Invalid is the number of steps whose token could not be played: a tool whose
// needs were not met, a digit or [CTX].
func (m *SoundMachine) Invalid() int { return m.invalid }

// registers are the state of the sound machine.
type registers struct {
	acc, left, mem          int
	next                    int // operands consumed
	hasAcc, hasLeft, hasMem bool
}

// play carries a tool out. It reports false, and changes nothing, when the
// tool's needs are not met. tape holds the operands.
func (r *registers) play(token int, tape []int) bool {
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

// combine computes left ∘ acc, acc ∘ next operand, or next ∘ next.
func (r *registers) combine(operator int, tape []int) bool {
	a, b, taken := r.pair(tape)
	if taken < 0 {
		return false
	}
	r.acc, r.hasAcc = apply(operator, a, b), true
	r.left, r.hasLeft = 0, false
	r.next += taken
	return true
}

// pair is what an operator would combine, and how many operands of the tape
// that takes: -1 where its needs are not met.
func (r *registers) pair(tape []int) (a, b, taken int) {
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

func (r *registers) store() bool {
	if !r.hasAcc {
		return false
	}
	r.mem, r.hasMem = r.acc, true
	r.acc, r.hasAcc = 0, false
	return true
}

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
