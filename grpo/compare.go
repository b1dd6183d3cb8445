package grpo

import (
	"context"

	"toolgym/grpo/match"
)

// compare sets the calls against the expected ones, and the last message
// against the expected answer.
func (g *grader) compare(ctx context.Context, plan *match.Plan, s *Score) (float64, error) {
	g.made, g.counted = g.made[:0], g.counted[:0]
	for i := range s.Calls {
		if c := &s.Calls[i]; c.Counts() {
			g.made = append(g.made, match.Made{Name: c.Name, Arguments: c.Value, Valid: c.valid()})
			g.counted = append(g.counted, i)
		}
	}
	if err := plan.CallsInto(ctx, &g.report, g.made); err != nil {
		return 0, err
	}
	g.settle(s, plan)
	if !plan.Answer(finalText(g.turns)) {
		return 0, nil
	}
	return g.report.Credit, nil
}

// finalText is what the model said last.
func finalText(turns []turn) string { return turns[len(turns)-1].reading.Content }

// settle writes the report into the verdicts of the calls that it speaks of.
func (g *grader) settle(s *Score, plan *match.Plan) {
	for _, i := range g.counted {
		s.Calls[i].Verdict = VerdictUnjudged
	}
	for expected, made := range g.report.Pairs {
		if made >= 0 {
			c := &s.Calls[g.counted[made]]
			c.Verdict, c.Expected = VerdictRight, new(expected)
		}
	}
	for i := range g.report.Extra {
		left := &g.report.Extra[i]
		c := &s.Calls[g.counted[left.Made]]
		switch c.Verdict = VerdictExtra; {
		case left.Repeats >= 0:
			c.Verdict, c.Repeats = VerdictRepeated, new(g.counted[left.Repeats])
		case left.Instead >= 0:
			c.Verdict, c.Expected, c.Differs = VerdictWrong, new(left.Instead), left.Differs
		}
	}
	for _, expected := range g.report.Missing {
		s.Missing = append(s.Missing, plan.Expected(expected))
	}
}
