package grpo

import (
	"slices"

	"toolgym/grpo/parse"
)

// collect gathers the attempts, the defects and the tier of all turns.
func (s *Score) collect(turns []turn) {
	n := 0
	for i := range turns {
		n += len(turns[i].reading.Attempts)
	}
	s.Calls = slices.Grow(s.Calls[:0], n)[:n]
	next := 0
	for i := range turns {
		r := &turns[i].reading
		for j := range r.Attempts {
			c := &s.Calls[next]
			c.Attempt, c.Turn, c.Verdict = r.Attempts[j], i, VerdictLost
			next++
		}
		for _, d := range r.Defects {
			s.note(d)
		}
	}
	s.Tier = tierOf(turns)
}

// note adds a defect that is not there yet.
func (s *Score) note(d parse.Defect) {
	if !slices.Contains(s.Defects, d) {
		s.Defects = append(s.Defects, d)
	}
}

// tierOf joins the tiers of the turns by the rule for attempts: the worst of
// those that count, none when nothing counts, answer when nothing was tried,
// and at least envelope when a turn was lost beside others that count.
func tierOf(turns []turn) parse.Tier {
	worst, lost := parse.Answer, false
	for i := range turns {
		switch tier := turns[i].reading.Tier; {
		case tier == parse.None:
			lost = true
		case tier == parse.Syntax || worst == parse.Answer:
			worst = tier
		case tier == parse.Envelope && worst == parse.Strict:
			worst = tier
		}
	}
	switch {
	case lost && worst == parse.Answer:
		return parse.None
	case lost && worst == parse.Strict:
		return parse.Envelope
	}
	return worst
}
