package arithmetic

// The documented lengths: a plan of the published curriculum, and the number
// of steps after which the documented machine stops.
const (
	DocumentedPlan  = 6
	DocumentedLimit = 7
)

// A DocumentedMachine follows the published rules to the letter, defects
// included (the package documentation lists them). It is a plain value: copy it
// to try something, compare it with ==.
type DocumentedMachine struct {
	stage, d, e   int
	product, c    int // a·b
	goals         [5]int
	target        int
	last          int
	known         bool // last is set
	stored        bool // something was "stored"; no value is kept
	steps         int
	done, success bool
}

// NewDocumented sets up the machine for a problem of the stages 0 to 2. It
// panics if the stage is another.
func NewDocumented(p Problem) DocumentedMachine {
	o := Published(p.Stage, p.Operands).Operands
	m := DocumentedMachine{stage: p.Stage, product: o[0] * o[1], c: o[2], d: o[3], e: o[4]}
	product, sum := m.product, m.product+m.c
	m.goals = [5]int{product, sum, sum - m.d, m.d * m.e, sum - m.d*m.e}
	m.target = m.goals[p.Stage] // one sub-goal behind the target that is described
	return m
}

// Step plays a token and returns its reward; done tells that the episode is
// over. A step after the end changes nothing.
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
		if m.known {
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
	case !m.known:
		m.last, m.known = m.product, true
	case m.stage > 0:
		m.last *= m.d
	}
}

func (m *DocumentedMachine) subtract() {
	switch {
	case !m.known || m.stage == 0:
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
	m.known = true
}

// answer pays [last = target] + 0.2·shaped. It counts in hundredths, so that
// rewards are the nearest numbers to 1.05, 0.24 and so on, on every processor.
func (m *DocumentedMachine) answer() float64 {
	if !m.known {
		return 0
	}
	// 0.2·shaped for each goal that is hit, by stage and goal.
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

// Steps is the number of tokens played before the end.
func (m *DocumentedMachine) Steps() int { return m.steps }

// Success reports an answer that met the documented target.
func (m *DocumentedMachine) Success() bool { return m.success }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
