package arithmetic

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
