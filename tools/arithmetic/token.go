package arithmetic

import "strconv"

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
