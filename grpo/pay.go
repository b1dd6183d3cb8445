package grpo

import (
	"math"
	"strings"
)

// pay works out the criteria of a rubric and the reward, their sum. A criterion
// that can not be worked out, and is paid for, leaves the completion without a
// reward.
func (s *Score) pay(clauses []clause, turns []turn) {
	if s.Criteria == nil {
		s.Criteria = make(Criteria, len(clauses))
	}
	if s.Failure != nil {
		s.unpaid(clauses)
		return
	}
	var vars *variables
	total := 0.0
	for i := range clauses {
		c := &clauses[i]
		if c.formula != nil && vars == nil {
			vars = s.variables(turns)
		}
		score := c.score(measure(i), &s.values, vars)
		s.Criteria[i] = score
		total += score.Reward
		if score.Error != "" && c.Weight != 0 {
			s.Failure = &Failure{Kind: FailureHarness, Reason: "criterion " + c.name + ": " + score.Error}
		}
	}
	if s.Failure == nil && (math.IsInf(total, 0) || math.IsNaN(total)) {
		s.Failure = &Failure{Kind: FailureHarness, Reason: "the weights are too large: the reward is not finite"}
	}
	if s.Failure == nil {
		s.Reward, s.Valid = &total, true
	}
}

// unpaid lists the criteria of a completion that is not scored.
func (s *Score) unpaid(clauses []clause) {
	for i := range clauses {
		s.Criteria[i] = CriterionScore{Name: clauses[i].name, Weight: clauses[i].Weight, Error: "not scored: " + s.Failure.Kind + " failure"}
	}
}

// score works one criterion out; i is its place, which is the measure's for the
// known ones.
func (c *clause) score(i measure, v *values, vars *variables) CriterionScore {
	out := CriterionScore{Name: c.name, Weight: c.Weight}
	switch {
	case c.formula != nil:
		value, err := c.formula.value(vars, v)
		if err != nil {
			out.Error = err.Error()
			return out
		}
		out.Value = value
	case i == mLength:
		out.Value, out.Error = c.length(v)
	default:
		out.Value = v.value[i]
	}
	out.Reward = out.Value * out.Weight
	if math.IsInf(out.Reward, 0) {
		out.Error = "the weight is too large: the reward is not finite"
	}
	if out.Error != "" {
		out.Value, out.Reward = 0, 0
	}
	return out
}

// length is the value of length in the criterion's unit.
func (c *clause) length(v *values) (value float64, unknown string) {
	switch {
	case c.Unit == UnitOff:
		return 0, ""
	case c.Unit != UnitToken:
		return float64(v.turns), ""
	case v.tokens < 0:
		return 0, unknownTokens
	}
	return c.ramp(v.tokens), ""
}

const unknownTokens = "nobody counted the tokens: give tokens, logprobs or a mask"

// variables fills in what formulas speak of.
func (s *Score) variables(turns []turn) *variables {
	x := &s.values.value
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
		Turns: float64(s.values.turns), Tokens: float64(s.values.tokens), Matched: float64(s.matched()),
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
