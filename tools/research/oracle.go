package research

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

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
