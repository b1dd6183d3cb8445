package lab

import (
	"fmt"
	"strings"

	"toolgym/grpo/eval"
)

// An interval is a share with its 95 % interval, as a small drawing shows it.
type interval struct {
	At, From, To float64 // 0 to 1, of the width
	Known        bool
	Zero         bool // the middle of the width is marked
}

// barOf is the success rate of a summary, or what stands for it where coverage
// is too low for a headline: nothing.
func barOf(s *eval.Summary) interval {
	if s == nil || s.Success == nil || s.Interval == nil {
		return interval{}
	}
	return interval{At: *s.Success, From: s.Interval[0], To: s.Interval[1], Known: true}
}

// The drawing is 100 wide, with room for the point at either end.
func place100(v float64) string { return fmt.Sprintf("%.2f", 4+92*min(max(v, 0), 1)) }

func (i interval) X() string     { return place100(i.At) }
func (i interval) Left() string  { return place100(i.From) }
func (i interval) Right() string { return place100(i.To) }

// rate is the headline of a summary in words.
func rate(s *eval.Summary) string {
	switch {
	case s == nil || s.Trials == 0:
		return "—"
	case s.Success == nil:
		return "withheld"
	}
	return fmt.Sprintf("%.1f %%", 100**s.Success)
}

// between writes the two ends of an interval of shares.
func between(i [2]float64) string { return fmt.Sprintf("%.1f to %.1f %%", 100*i[0], 100*i[1]) }

// points writes a difference of shares.
func points(v float64) string { return strings.Replace(fmt.Sprintf("%+.1f", 100*v), "-", "−", 1) }
