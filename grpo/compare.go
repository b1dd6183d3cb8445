package grpo

import "toolgym/grpo/match"

// compare sets the calls against the expected ones, and the last message
// against the expected answer.
func (g *grader) compare(plan *match.Plan, s *Score) float64 {
	g.made = g.made[:0]
	for i := range s.Calls {
		if c := &s.Calls[i]; c.Counts() {
			g.made = append(g.made, match.Made{Name: c.Name, Arguments: c.Value, Valid: c.valid()})
		}
	}
	report := plan.Calls(g.made)
	s.settle(report, plan)
	if !plan.Answer(finalText(g.turns)) {
		return 0
	}
	return report.Credit
}

// finalText is what the model said last.
func finalText(turns []turn) string { return turns[len(turns)-1].reading.Content }

// settle writes the report into the verdicts of the calls.
func (s *Score) settle(report match.Report, plan *match.Plan) {
	counted := s.counted()
	for _, i := range counted {
		s.Calls[i].Verdict = VerdictUnjudged
	}
	for expected, made := range report.Pairs {
		if made >= 0 {
			c := &s.Calls[counted[made]]
			c.Verdict, c.Expected = VerdictRight, &expected
		}
	}
	for _, left := range report.Extra {
		c := &s.Calls[counted[left.Made]]
		switch c.Verdict = VerdictExtra; {
		case left.Repeats >= 0:
			c.Verdict, c.Repeats = VerdictRepeated, &counted[left.Repeats]
		case left.Instead >= 0:
			c.Verdict, c.Expected, c.Differs = VerdictWrong, &left.Instead, left.Differs
		}
	}
	for _, expected := range report.Missing {
		s.Missing = append(s.Missing, plan.Expected(expected))
	}
}

// counted lists the indices of the attempts that count as calls.
func (s *Score) counted() []int {
	indices := make([]int, 0, len(s.Calls))
	for i := range s.Calls {
		if s.Calls[i].Counts() {
			indices = append(indices, i)
		}
	}
	return indices
}
