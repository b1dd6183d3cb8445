package research

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"

	"toolgym/internal/calculator"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

const name = "research"

// Spec describes the environment.
func Spec() tools.Spec {
	return tools.Spec{
		Name:        name,
		Description: "Questions about share prices after quarterly reports, answered by searching and calculating.",
		Rules:       []string{tools.Sound},
		Levels:      levels(),
		Tools:       offered,
		NewTask:     newTask,
		New:         func() tools.Env { return &env{} },
		Oracle:      oracle{},
	}
}

// declared are the tools, made once for all episodes; the search comes first.
var declared = sync.OnceValue(func() tools.Set { return tools.Set{newSearch(), calculator.Tool()} })

// offered is the set of tools at a level, which is the same everywhere; empty
// names mean the defaults, and unknown ones have none.
func offered(rules, level string) tools.Set {
	if rules == "" {
		rules = tools.Sound
	}
	if level == "" {
		level = oneStock
	}
	if check(rules, level) != nil {
		return nil
	}
	return declared()
}

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

// oracle looks every report up, calculates, and answers with the calculator's
// result.
type oracle struct{}

var _ tools.Agent = oracle{}

func (oracle) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	if err := check(task.Rules, task.Level); err != nil {
		return err
	}
	speaker, ok := caller.(tools.Speaker)
	if !ok {
		return refusal.New("", "a caller that is a Speaker", "the answer is a message, which this caller does not take")
	}
	var changes []string
	for _, r := range draw(task.Level, task.Seed).reports {
		before, after, err := lookUp(ctx, caller, r)
		if err != nil {
			return err
		}
		changes = append(changes, fmt.Sprintf("(%s-%s)/%s*100", after, before, before))
	}
	var answer struct{ Result json.Number }
	if err := call(ctx, caller, "calculator", map[string]string{"expression": strings.Join(changes, "-")}, &answer); err != nil {
		return err
	}
	value, ok := new(big.Rat).SetString(string(answer.Result))
	if !ok {
		return fmt.Errorf("the oracle's calculation gave %s", answer.Result)
	}
	_, err := speaker.Say(ctx, "The answer is "+value.FloatString(2)+" %.")
	return err
}

// lookUp asks for the prices of a report and picks the two closings from what
// is shown.
func lookUp(ctx context.Context, caller tools.Caller, r report) (before, after json.Number, err error) {
	var page finding
	in := query{Company: r.company.name(), Quarter: r.quarter.String(), Topic: sharePrice}
	if err := call(ctx, caller, "financial_search", in, &page); err != nil {
		return "", "", err
	}
	if page.Before != nil && page.After != nil {
		return page.Before.Price, page.After.Price, nil
	}
	for i, day := range page.Closes {
		first := day.Date > page.Report.Date || day.Date == page.Report.Date && page.Report.Time != afterClose
		if first && i > 0 {
			return page.Closes[i-1].Price, day.Price, nil
		}
	}
	return "", "", fmt.Errorf("the oracle found no prices around the report of %s", page.Report.Date)
}

// call makes one call and decodes its result.
func call(ctx context.Context, caller tools.Caller, tool string, arguments, out any) error {
	text, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("encoding arguments of %s: %w", tool, err)
	}
	step, err := caller.Step(ctx, tools.Call{Name: tool, Arguments: text})
	if err != nil {
		return err
	}
	if step.Result.IsError {
		return fmt.Errorf("the oracle's call of %s failed: %s", tool, step.Result.Content)
	}
	if err := json.Unmarshal(step.Result.Content, out); err != nil {
		return fmt.Errorf("reading the result of %s: %w", tool, err)
	}
	return nil
}
