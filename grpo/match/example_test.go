package match_test

import (
	"encoding/json"
	"fmt"

	"toolgym/grpo/match"
	"toolgym/tools"
)

// Numbers are compared by value: 5.0 is 5. The second call is extra.
func ExamplePlan_Calls() {
	convert, err := tools.Declare("convert", "Converts an amount.", json.RawMessage(
		`{"type":"object","properties":{"amount":{"type":"number"}},"required":["amount"]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	expected := match.Expected{Calls: []match.Call{{Name: "convert", Arguments: json.RawMessage(`{"amount":5}`)}}, Extra: match.Divide}
	plan, err := expected.Compile(tools.Set{convert})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := plan.Calls([]match.Made{
		{Name: "convert", Arguments: map[string]any{"amount": json.Number("5.0")}, Valid: true},
		{Name: "convert", Arguments: map[string]any{"amount": json.Number("6")}, Valid: true},
	})
	fmt.Println(report.Credit, report.Pairs, len(report.Missing), len(report.Extra), err)
	// Output:
	// 0.5 [0] 0 1 <nil>
}
