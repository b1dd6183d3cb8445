package grpo

import "context"

// What a score takes, in bytes: in memory, and again in an answer. These are
// estimates from above for short names.
const (
	callWeight      = 1500
	violationWeight = 300
	defectWeight    = 64
)

// A Charge takes bytes of memory before more are used. It is called from many
// goroutines, and an error ends the work.
type Charge func(bytes int64) error

// ScoreWithin is [Scorer.Score] in a bounded memory: what a completion makes of
// its text (attempts, violations, expected calls that are missing) can be much
// larger than the text, and is charged when it is known. The completions
// themselves are the caller's, who knows how many there are.
func (s *Scorer) ScoreWithin(ctx context.Context, r Request, charge Charge) (Response, error) {
	return s.score(ctx, r, charge)
}

// weight is about how many bytes a score takes beyond what every score does.
func (s *Score) weight() int64 {
	n := defectWeight * len(s.Defects)
	for i := range s.Calls {
		c := &s.Calls[i]
		n += callWeight + len(c.Name) + 2*len(c.Arguments) + 2*len(c.Raw) + 2*len(c.Given) + defectWeight*len(c.Defects)
		for j := range c.Violations {
			n += violationWeight + 2*len(c.Violations[j].Message) + len(c.Violations[j].Pointer)
		}
		for _, name := range c.UnknownArguments {
			n += defectWeight + len(name)
		}
		if c.Result != nil {
			n += 2 * len(c.Result.Content)
		}
	}
	for i := range s.Missing {
		n += defectWeight + len(s.Missing[i].Name) + len(s.Missing[i].Arguments)
	}
	if s.Failure != nil {
		n += len(s.Failure.Reason)
	}
	return int64(n)
}
