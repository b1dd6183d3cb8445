package grpo

import (
	"math"
	"strings"
)

// pay works out what is left of the criteria, and the reward, the sum of what
// they are paid. A criterion that cannot be worked out, and is paid for, leaves
// the completion without a reward.
func (s *Score) pay(by *tariff, turns []turn) {
	if s.Failure != nil {
		s.unpaid()
		return
	}
	var vars *variables
	total, left := 0.0, maxFormulaWork
	for _, i := range by.due {
		c := &by.clauses[i]
		if c.formula != nil && vars == nil {
			vars = s.variables(turns)
		}
		value, unknown := c.value(measure(i), s, vars, &left)
		if unknown == "" && math.IsInf(value*c.Weight, 0) {
			unknown = "the weight is too large: the reward is not finite"
		}
		if unknown == "" {
			s.Criteria.values[i] = value
			total += value * c.Weight
			continue
		}
		s.Criteria.fail(i, unknown)
		if c.Weight != 0 {
			s.Failure = &Failure{Kind: FailureHarness, Reason: "criterion " + c.name + ": " + unknown}
		}
	}
	if s.Failure == nil && (math.IsInf(total, 0) || math.IsNaN(total)) {
		s.Failure = &Failure{Kind: FailureHarness, Reason: "the weights are too large: the reward is not finite"}
	}
	if s.Failure == nil {
		s.total = total
		s.Reward, s.Valid = &s.total, true
	}
}

// unpaid marks the criteria of a completion that is not scored.
func (s *Score) unpaid() {
	for i := range s.Criteria.values {
		s.Criteria.fail(i, "not scored: "+s.Failure.Kind+" failure")
	}
}

// value works a criterion out, or says why it cannot be. i is its place, which
// is the measure's for the known ones.
func (c *clause) value(i measure, s *Score, vars *variables, left *float64) (value float64, unknown string) {
	switch {
	case c.formula != nil:
		value, err := c.formula.value(vars, left)
		if err != nil {
			return 0, err.Error()
		}
		return value, ""
	case i == mLength:
		return c.length(s)
	}
	return s.Criteria.values[i], ""
}

// length is the value of length in the criterion's unit.
func (c *clause) length(s *Score) (value float64, unknown string) {
	switch {
	case c.Unit == UnitOff:
		return 0, ""
	case c.Unit != UnitToken:
		return float64(s.turns), ""
	case s.tokens < 0:
		return 0, unknownTokens
	}
	return c.ramp(s.tokens), ""
}

const unknownTokens = "no token counts: give tokens, logprobs or a mask"

// variables fills in what formulas speak of.
func (s *Score) variables(turns []turn) *variables {
	x := s.Criteria.values
	texts := make([]string, len(turns))
	for i := range turns {
		texts[i] = turns[i].text
	}
	return &variables{
		Format: x[mFormat], Schema: x[mSchema], Completion: x[mCompletion],
		CallsEmitted: x[mCallsEmitted], CallsParsed: x[mCallsParsed], CallsValid: x[mCallsValid], CallsExecuted: x[mCallsExecuted],
		CallsNeeded: x[mCallsNeeded], FabricatedResult: x[mFabricatedResult], UngroundedAnswer: x[mUngroundedAnswer],
		CopiedSchema: x[mCopiedSchema], RepeatedTags: x[mRepeatedTags], EmptyTags: x[mEmptyTags], Repetition: x[mRepetition],
		Overlong: x[mOverlong], HiddenViolations: x[mHiddenViolations],
		Turns: float64(s.turns), Tokens: float64(s.tokens), Matched: float64(s.matched()),
		Text: strings.Join(texts, "\n"), Answer: strings.TrimSpace(finalText(turns)), Called: s.called,
	}
}

// called counts the calls of a tool.
func (s *Score) called(name string) int {
	n := 0
	for i := range s.Calls {
		if s.Calls[i].Counts() && s.Calls[i].Name == name {
			n++
		}
	}
	return n
}

// matched counts the expected calls that were made.
func (s *Score) matched() int {
	n := 0
	for i := range s.Calls {
		if s.Calls[i].Verdict == VerdictRight {
			n++
		}
	}
	return n
}
