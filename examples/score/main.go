package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/tools"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

// forecast is the tool that the model was shown.
type forecast struct {
	City string `json:"city"`
	Days int    `json:"days" jsonschema:"minimum=1,maximum=10"`
}

// completions are what the model wrote: right, wrong in one value, outside of
// the schema, and without any call.
func completions() []string {
	return []string{
		"<tool_call>\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\", \"days\": 2}}\n</tool_call>",
		"<tool_call>\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\", \"days\": 3}}\n</tool_call>",
		"<tool_call>\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\", \"days\": \"2\"}}\n</tool_call>",
		"It will rain in Oslo.",
	}
}

func run(ctx context.Context, out io.Writer) error {
	scorer, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		return err
	}
	group := grpo.Group{
		ID:    "oslo",
		Tools: tools.Set{tools.New[forecast, any]("get_forecast", "Weather forecast for a city.", nil)},
		Expected: &match.Expected{Calls: []match.Call{{Name: "get_forecast",
			Arguments: json.RawMessage(`{"city": "Oslo", "days": 2}`)}}},
	}
	for _, text := range completions() {
		group.Completions = append(group.Completions, grpo.Completion{Text: &text, Family: "hermes"})
	}
	response, err := scorer.Score(ctx, grpo.Request{Groups: []grpo.Group{group}})
	if err != nil {
		return err
	}
	for i, score := range response.Groups[0].Completions {
		fmt.Fprintf(out, "%d tier %-6s success %-5t reward %+.2f advantage %+.2f\n", i, score.Tier, score.Success, *score.Reward, score.Advantage)
	}
	return nil
}
