package arithmetic

// DocumentedPlan is the length of the plans of the published curriculum, and
// DocumentedLimit the number of steps after which the documented machine stops.
const (
	DocumentedPlan  = 6
	DocumentedLimit = 7
)

// A DocumentedMachine follows the published rules, including their defects, which
// the package documentation lists. It is a plain value: a copy is independent, and
// two machines can be compared with ==.
type DocumentedMachine struct {
	stage, d, e   int
	product, c    int // a·b
	goals         [5]int
	target        int
	last          int
	hasLast       bool
	stored        bool // store was played; no value is stored
	steps         int
	done, success bool
}

// NewDocumented returns the machine for a problem of the stages 0 to 2. It panics
// for any other stage.
func NewDocumented(p Problem) DocumentedMachine {
	o := Published(p.Stage, p.Operands).Operands
	m := DocumentedMachine{stage: p.Stage, product: o[0] * o[1], c: o[2], d: o[3], e: o[4]}
	product, sum := m.product, m.product+m.c
	m.goals = [5]int{product, sum, sum - m.d, m.d * m.e, sum - m.d*m.e}
	m.target = m.goals[p.Stage] // defect 1: one sub-goal before the target of the prompt
	return m
}

// Step plays a token and returns its reward and whether the episode is over. A
// step after the end changes nothing.
func (m *DocumentedMachine) Step(token int) (reward float64, done bool) {
	if m.done {
		return 0, true
	}
	m.steps++
	m.done = token == Ans || m.steps == DocumentedLimit
	switch token {
	case Mul:
		m.multiply()
	case Add:
		if m.hasLast {
			m.last += m.c
		}
	case Sub:
		m.subtract()
	case Sto:
		m.stored = true
	case Rcl:
		m.recall()
	case Ans:
		reward = m.answer()
	}
	return reward, m.done
}

func (m *DocumentedMachine) multiply() {
	switch {
	case !m.hasLast:
		m.last, m.hasLast = m.product, true
	case m.stage > 0:
		m.last *= m.d
	}
}

func (m *DocumentedMachine) subtract() {
	switch {
	case !m.hasLast || m.stage == 0:
	case m.stage == 2 && m.stored:
		m.last -= m.e
	default:
		m.last -= m.d
	}
}

func (m *DocumentedMachine) recall() {
	if !m.stored {
		return
	}
	if m.stage == 2 {
		m.last = m.d * m.e
	}
	m.hasLast = true
}

// answer returns the reward
//
//	[last = target] + 0.2·Σ_i w_i·[last = goal_i]
//
// with the weights w of the published rules: by stage 0.25, 0.5; 0.25, 0.5, 0.75;
// and 0.2, 0.4, 0, 0.6, 0.6. It computes in hundredths, so that the result is the
// float64 nearest to 1.05, 0.24 and so on, on every processor.
func (m *DocumentedMachine) answer() float64 {
	if !m.hasLast {
		return 0
	}
	// 20·w by stage and goal.
	bonus := [3][5]int{{5, 10}, {5, 10, 15}, {4, 8, 0, 12, 12}}[m.stage]
	m.success = m.last == m.target
	hundredths := 100 * bit(m.success)
	for i, goal := range m.goals {
		if m.last == goal {
			hundredths += bonus[i]
		}
	}
	return float64(hundredths) / 100
}

// Steps returns the number of tokens played, those after the end excluded.
func (m *DocumentedMachine) Steps() int { return m.steps }

// Success reports whether the answer was the documented target.
func (m *DocumentedMachine) Success() bool { return m.success }

// bit returns 1 for true and 0 for false.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
