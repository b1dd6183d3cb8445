package parse

// Tier says how well a call, or a whole completion, is written.
type Tier string

// The tiers, from best to worst. Answer is the tier of a completion that
// attempts no call.
const (
	Strict   Tier = "strict"   // the family's native form, nothing mended
	Envelope Tier = "envelope" // a strictly valid payload; wrapper, separators, fence or closer are off
	Syntax   Tier = "syntax"   // an unambiguous misspelling was mended
	None     Tier = "none"     // could only be saved by guessing, and is not
	Answer   Tier = "answer"   // no attempt
)

// FormatOK reports whether a completion of this tier is well formed.
func (t Tier) FormatOK() bool { return t == Strict || t == Answer }

// rank orders the tiers of attempts; a larger rank is worse.
func (t Tier) rank() int {
	switch t {
	case Strict:
		return 0
	case Envelope:
		return 1
	case Syntax:
		return 2
	}
	return 3
}

func worse(a, b Tier) Tier {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// Status says how the reading of one attempt ended.
type Status string

// The statuses. Every one but StatusOK means tier none.
const (
	StatusOK          Status = "ok"
	StatusInvalidJSON Status = "invalid_json" // the payload cannot be decoded
	StatusUnclosed    Status = "unclosed"     // it never ends, though generation did
	StatusMissingName Status = "missing_name" // it names no tool
	StatusMalformed   Status = "malformed"    // it decodes, but is no call in any accepted form
	StatusTruncated   Status = "truncated"    // the token limit cut it off
)
