package arithmetic

// planLength returns the length of [Problem.Plan].
func (p Problem) planLength() int {
	return [Stages]int{3, 4, 7, 3, 7}[p.Stage]
}

// Shortest returns the length of the shortest plan that solves the problem, found
// by trying all plans shorter than [Problem.Plan].
func (p Problem) Shortest() int {
	for length := 2; length < p.planLength(); length++ {
		if p.solvableWithin(length) {
			return length
		}
	}
	return p.planLength()
}

// HasShortcut reports whether these operands have a shorter plan than the shortest
// one that works for all operands: 3*1+0 is solved by [MUL] [ANS]. At stage 4 some
// operators have a plan shorter than [Problem.Plan] for all operands; that is not
// a shortcut. Training may leave out problems with shortcuts, evaluation does not.
func (p Problem) HasShortcut() bool {
	if !p.solvableWithin(p.planLength() - 1) {
		return false
	}
	return p.Stage != 4 || p.Shortest() < p.generic().Shortest()
}

// generic returns the problem with operands for which only plans that work for
// all operands succeed. All values are polynomials in the operands, and different
// polynomials have different values for these (a test checks all operators).
// Overflow does no harm: it keeps equal polynomials equal.
func (p Problem) generic() Problem {
	p.Operands = [5]int{1_000_003, 10_007_777, 123_457, 98_765_431, 7_654_321}
	return p
}

// solvableWithin reports whether a plan of at most the given number of tokens,
// [ANS] included, solves the problem.
func (p Problem) solvableWithin(tokens int) bool {
	var start registers
	tape := p.Operands[:p.shape().operands]
	return start.reaches(p.Target(), tape, tokens-1)
}

// reaches reports whether some sequence of one to the given number of tools makes
// acc the target. It tries all sequences, in a few microseconds at most.
func (r registers) reaches(target int, tape []int, tools int) bool {
	for token := Mul; token <= Rcl; token++ {
		if token == Ans || tools == 1 && (token == Sto || r.hasAcc && token == Rcl) {
			continue // the last tool must give acc a new value
		}
		next := r
		if !next.execute(token, tape) {
			continue
		}
		if next.hasAcc && next.acc == target || tools > 1 && next.reaches(target, tape, tools-1) {
			return true
		}
	}
	return false
}

// hasShortcut reports whether a plan shorter than the best fixed plan of the stage
// succeeds. Those are [MUL] [ANS], [MUL] [ADD] [ANS] and [MUL] [ADD] [SUB] [ANS].
func (m DocumentedMachine) hasShortcut() bool {
	return m.reaches(m.stage + 1)
}

// reaches reports whether a plan of at most the given number of tokens, [ANS]
// included, succeeds.
func (m DocumentedMachine) reaches(tokens int) bool {
	if m.hasLast && m.last == m.target {
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

// shortest returns the length of the shortest plan that succeeds.
func (m DocumentedMachine) shortest() int {
	length := 2
	for !m.reaches(length) {
		length++
	}
	return length
}
