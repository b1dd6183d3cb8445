package research

import (
	"fmt"
	"math/big"
	"math/rand/v2"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// The levels.
const (
	oneStock = "0" // one report, both prices in the plain view
	compare  = "1" // two reports, and the difference of their reactions
	noisy    = "2" // one report, its prices among others
)

func levels() []string { return []string{oneStock, compare, noisy} }

// check refuses rules and levels that do not exist.
func check(rules, level string) error {
	if rules != tools.Sound {
		return refusal.New("rules", tools.Sound, "unknown rules %q", rules)
	}
	return refusal.OneOf("level", level, levels()...)
}

// stream separates the draws of this environment from those of others that use
// the same seed.
const stream = 0x7265736561726368 // "research"

// A question is what a task asks: about one report, or about two.
type question struct {
	level   string
	reports []report
}

// draw makes the question of a seed. Seed 0 asks about the published lab's
// report at every level.
func draw(level string, seed uint64) question {
	r := rand.New(rand.NewPCG(seed, stream))
	c, q := company(r.Uint32N(uint32(companies()))), quarter(r.Uint32N(quarters))
	if seed == 0 {
		c, q = publishedCompany, publishedQuarter
	}
	asked := question{level, []report{reportOf(c, q)}}
	if level != compare {
		return asked
	}
	if r.Uint32N(2) == 0 {
		q = (q + quarters - 1) % quarters
	} else {
		c = (c + 1 + company(r.Uint32N(uint32(companies()-1)))) % company(companies())
	}
	asked.reports = append(asked.reports, reportOf(c, q))
	return asked
}

// value is the exact answer, in percent or in percentage points.
func (q question) value() *big.Rat {
	value := q.reports[0].change()
	if len(q.reports) > 1 {
		value.Sub(value, q.reports[1].change())
	}
	return value
}

// target is the answer as the task wants it, rounded to two decimals.
func (q question) target() *big.Rat { return rounded(q.value(), 2) }

// rounded rounds half away from zero, as people do.
func rounded(r *big.Rat, places int) *big.Rat {
	out, _ := new(big.Rat).SetString(r.FloatString(places)) // a decimal always parses
	return out
}

func (q question) text() string {
	if len(q.reports) > 1 {
		return fmt.Sprintf("A share price reaction is the change in percent from the last close before a report to the first close after it. "+
			"By how many percentage points is the reaction of %s to its %s report above that of %s to its %s report? "+
			"Look the prices up, calculate, then answer with that number, rounded to two decimals, negative if the first is below the second.",
			q.reports[0].company.name(), q.reports[0].quarter, q.reports[1].company.name(), q.reports[1].quarter)
	}
	return fmt.Sprintf("By what percentage did the share price of %s change after its %s report, from the last close before it to the first close after it? "+
		"Look the prices up, calculate, then answer with the percentage, rounded to two decimals, negative if the price fell.",
		q.reports[0].company.name(), q.reports[0].quarter)
}

// newTask makes the prompt of a task. A shortest solution looks each report up
// and does the sum in the head.
func newTask(rules, level string, seed uint64) (tools.Task, error) {
	if err := check(rules, level); err != nil {
		return tools.Task{}, err
	}
	q := draw(level, seed)
	return tools.Task{Prompt: []tools.Message{{Role: "user", Content: q.text()}}, Optimal: len(q.reports)}, nil
}
