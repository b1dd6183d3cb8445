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

// Spec returns the description of the environment.
func Spec() tools.Spec {
	return tools.Spec{
		Name:        name,
		Description: "Questions about share prices after quarterly reports, answered by searching and calculating.",
		Rules:       []string{tools.Sound},
		Levels:      levels(),
		Tools:       toolsAt,
		NewTask:     newTask,
		New:         func() tools.Env { return &env{} },
		Oracle:      oracle{},
	}
}

// declared returns the tools, declared once. The search is the first.
var declared = sync.OnceValue(func() tools.Set { return tools.Set{newSearch(), calculator.Tool()} })

// toolsAt returns the tools, which are the same at all levels. Empty names are the
// defaults; for unknown names it returns nil.
func toolsAt(rules, level string) tools.Set {
	if rules == "" {
		rules = tools.Sound
	}
	if level == "" {
		level = oneReport
	}
	if check(rules, level) != nil {
		return nil
	}
	return declared()
}

// The levels.
const (
	oneReport = "0" // one report; the search returns its two prices
	compare   = "1" // the difference between the reactions to two reports
	detailed  = "2" // one report; the search returns other figures as well
)

func levels() []string { return []string{oneReport, compare, detailed} }

// check returns an error for unknown rules or levels.
func check(rules, level string) error {
	if rules != tools.Sound {
		return refusal.New("rules", tools.Sound, "unknown rules %q", rules)
	}
	return refusal.OneOf("level", level, levels()...)
}

// stream separates the draws of this environment from those of others that use
// the same seed.
const stream = 0x7265736561726368 // "research"

// A question is the question of a task, about one or two reports.
type question struct {
	level   string
	reports []report
}

// draw returns the question of a seed. Seed 0 asks about the published report.
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

// value returns the exact answer in percent or percentage points.
func (q question) value() *big.Rat {
	value := q.reports[0].change()
	if len(q.reports) > 1 {
		value.Sub(value, q.reports[1].change())
	}
	return value
}

// target returns the answer rounded to two decimals.
func (q question) target() *big.Rat { return rounded(q.value(), 2) }

// rounded rounds half away from zero.
func rounded(r *big.Rat, places int) *big.Rat {
	out, _ := new(big.Rat).SetString(r.FloatString(places)) // the text is always a valid number
	return out
}

// text returns the prompt.
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

// newTask returns a task with its prompt. A shortest solution searches for each report
// and computes without the calculator.
func newTask(rules, level string, seed uint64) (tools.Task, error) {
	if err := check(rules, level); err != nil {
		return tools.Task{}, err
	}
	q := draw(level, seed)
	return tools.Task{Prompt: []tools.Message{{Role: "user", Content: q.text()}}, Optimal: len(q.reports)}, nil
}

// oracle searches for every report, calculates, and answers with the result.
type oracle struct{}

var _ tools.Agent = oracle{}

func (oracle) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	if err := check(task.Rules, task.Level); err != nil {
		return err
	}
	speaker, ok := caller.(tools.Speaker)
	if !ok {
		return refusal.New("", "a tools.Speaker", "the answer is a message, but the caller does not accept messages")
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
		return fmt.Errorf("the oracle's calculation returned %q", answer.Result)
	}
	_, err := speaker.Say(ctx, "The answer is "+value.FloatString(2)+" %.")
	return err
}

// lookUp searches for the prices of a report and returns the two that count.
func lookUp(ctx context.Context, caller tools.Caller, r report) (before, after json.Number, err error) {
	var page searchResult
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
	return "", "", fmt.Errorf("the search result has no prices around the report of %s", page.Report.Date)
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
