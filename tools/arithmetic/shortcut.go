package arithmetic

// taught is the length of the plan that the problem's stage teaches.
func (p Problem) taught() int {
	return [Stages]int{3, 4, 7, 3, 7}[p.Stage]
}

// Shortest is the length of the shortest plan that answers the problem, the
// taught plan's at most. It is found by trying.
func (p Problem) Shortest() int {
	for length := 2; length < p.taught(); length++ {
		if p.answeredWithin(length) {
			return length
		}
	}
	return p.taught()
}

// Accidental reports whether the operands happen to admit a plan shorter than
// every plan that works for all operands: 3*1+0 is answered by [MUL] [ANS].
// Some operators of stage 4 have a short plan for all operands, which is no
// accident. Training may leave accidental problems out, evaluation never does.
func (p Problem) Accidental() bool {
	if !p.answeredWithin(p.taught() - 1) {
		return false
	}
	return p.Stage != 4 || p.Shortest() < p.generic().Shortest()
}

// generic is the problem with operands so unlike each other that what answers
// it answers every problem with these operators: values are polynomials in the
// operands, and two that differ somewhere differ here (a test goes through all
// operators; products may wrap around, which keeps equal polynomials equal).
func (p Problem) generic() Problem {
	p.Operands = [5]int{1_000_003, 10_007_777, 123_457, 98_765_431, 7_654_321}
	return p
}

// answeredWithin tells whether some plan of at most that many tokens, [ANS]
// included, answers the problem.
func (p Problem) answeredWithin(tokens int) bool {
	var start registers
	tape := p.Operands[:p.shape().operands]
	return start.reaches(p.Target(), tape, tokens-1)
}

// reaches tells whether at most that many tools, at least one, bring the
// target into acc. It tries them all, in a few microseconds at most.
func (r registers) reaches(target int, tape []int, tools int) bool {
	for token := Mul; token <= Rcl; token++ {
		if token == Ans || tools == 1 && (token == Sto || r.hasAcc && token == Rcl) {
			continue // these leave acc without a new value, and nothing follows
		}
		next := r
		if !next.play(token, tape) {
			continue
		}
		if next.hasAcc && next.acc == target || tools > 1 && next.reaches(target, tape, tools-1) {
			return true
		}
	}
	return false
}

// accidental is the same for the documented machine, against the best fixed
// plans: [MUL] [ANS], [MUL] [ADD] [ANS], [MUL] [ADD] [SUB] [ANS].
func (m DocumentedMachine) accidental() bool {
	return m.reaches(m.stage + 1)
}

// reaches tells whether at most that many tokens, [ANS] included, succeed.
func (m DocumentedMachine) reaches(tokens int) bool {
	if m.known && m.last == m.target {
		return true
	}
	for token := Mul; tokens > 1 && token <= Rcl; token++ {
		next := m
		next.Step(token)
		if token != Ans && next.reaches(tokens-1) {
			return true
		}
	}
	return false
}

// shortest is the length of the shortest plan that succeeds under the
// documented rules.
func (m DocumentedMachine) shortest() int {
	length := 2
	for !m.reaches(length) {
		length++
	}
	return length
}
