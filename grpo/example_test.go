package grpo_test

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/tools"
)

// A group of two completions for one prompt: the right call, and a wrong value.
func ExampleScorer_Score() {
	convert, err := tools.Declare("convert", "Converts an amount.", json.RawMessage(
		`{"type":"object","properties":{"amount":{"type":"number"},"to":{"type":"string"}},"required":["amount","to"],"additionalProperties":false}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	scorer, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		fmt.Println(err)
		return
	}
	right := "<tool_call>\n{\"name\": \"convert\", \"arguments\": {\"amount\": 5, \"to\": \"EUR\"}}\n</tool_call>"
	wrong := "<tool_call>\n{\"name\": \"convert\", \"arguments\": {\"amount\": 6, \"to\": \"EUR\"}}\n</tool_call>"
	response, err := scorer.Score(context.Background(), grpo.Request{Groups: []grpo.Group{{
		ID: "g", Tools: tools.Set{convert},
		Expected:    &match.Expected{Calls: []match.Call{{Name: "convert", Arguments: json.RawMessage(`{"amount":5,"to":"EUR"}`)}}},
		Completions: []grpo.Completion{{Text: &right, Family: "hermes"}, {Text: &wrong, Family: "hermes"}},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, score := range response.Groups[0].Completions {
		fmt.Printf("reward %.2f advantage %+.2f success %t\n", *score.Reward, score.Advantage, score.Success)
	}
	// Output:
	// reward 5.45 advantage +0.71 success true
	// reward 2.45 advantage -0.71 success false
}
