package api

import (
	"context"
	"encoding/json"
	"time"

	"toolgym/api/client"
	"toolgym/api/dialect"
	"toolgym/api/training"
	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/internal/intake"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// The examples of the OpenAPI document. A test checks each against its schema,
// sends the requests to a server and compares its answers.

func exampleTool() tools.Tool {
	type operands struct {
		A json.Number `json:"a" jsonschema:"description=The left operand."`
		B json.Number `json:"b" jsonschema:"description=The right operand."`
	}
	return tools.New[operands, struct{}]("multiply", "Multiplies two numbers.", nil)
}

func exampleEnvs() client.Envs {
	return client.Envs{Envs: []client.Env{{Name: "arithmetic", Description: "Compute an expression with tools.",
		Rules: []string{tools.Sound, tools.Documented}, Levels: []string{"0", "1", "2"}, Tools: tools.Set{exampleTool()}}}}
}

func exampleTask() tools.Task {
	return tools.Task{ID: "arithmetic/2/17", Env: "arithmetic", Level: "2", Seed: 17, Rules: tools.Sound,
		Prompt: []tools.Message{{Role: "user", Content: "Compute (9*3+7)-(8*1). Use the tools, then call answer with the result."}}}
}

func exampleExpiry() time.Time { return time.Date(2026, 1, 2, 3, 34, 5, 0, time.UTC) }

func exampleState() client.State {
	return client.State{ID: "K5LDRAOTSTK5QBF3NI4PWEVC7C", Task: exampleTask(), Observation: json.RawMessage(`{"expression":"(9*3+7)-(8*1)"}`),
		Tools: tools.Set{exampleTool()}, ExpiresAt: exampleExpiry()}
}

func exampleStep() tools.Step {
	return tools.Transition(tools.Call{Name: "multiply", Arguments: json.RawMessage(`{"a":9,"b":3}`)}, tools.Result{Content: json.RawMessage(`{"result":27}`)}, 0)
}

func exampleAnswer() client.Answer { return answerOf(exampleStep(), 1) }

func examplePlayed() client.State {
	state := exampleState()
	state.Step = 1
	state.Trajectory = &tools.Trajectory{Task: state.Task, Observation: state.Observation, Steps: []tools.Step{exampleStep()}}
	return state
}

func exampleSummary() client.Summary {
	return client.Summary{ID: "K5LDRAOTSTK5QBF3NI4PWEVC7C", TaskID: "arithmetic/2/17", Step: 1, ExpiresAt: exampleExpiry()}
}

// exampleScores is a group of two completions of one task, and their scores.
func exampleScores() (grpo.Request, grpo.Response) {
	right, wrong := "<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 9, \"b\": 3}}\n</tool_call>", "It is 27."
	request := grpo.Request{Groups: []grpo.Group{{
		ID: "g1", Tools: tools.Set{exampleTool()},
		Expected:    &match.Expected{Calls: []match.Call{{Name: "multiply", Arguments: json.RawMessage(`{"a":9,"b":3}`)}}},
		Completions: []grpo.Completion{{Text: &right, Family: parse.Hermes, FinishReason: "stop"}, {Text: &wrong, Family: parse.Hermes, FinishReason: "stop"}},
	}}}
	return request, scored(request)
}

// exampleLines is a line of a scoring file and its score.
func exampleLines() (grpo.Line, grpo.ScoredLine) {
	request, response := exampleScores()
	group, score := request.Groups[0], response.Groups[0].Completions[0]
	return grpo.Line{Group: group.ID, Tools: group.Tools, Expected: group.Expected, Completion: group.Completions[0]},
		grpo.ScoredLine{Group: group.ID, Reward: score.Reward, Valid: score.Valid, Failure: score.Failure, Advantage: score.Advantage,
			Success: score.Success, Criteria: score.Criteria, Defects: score.Defects, Tier: score.Tier}
}

// exampleRewards is what OpenRLHF asks, and its answer.
func exampleRewards() (dialect.RewardQuery, dialect.Rewards) {
	query := dialect.RewardQuery{
		Query: []string{"<|im_start|>user\nThank you!<|im_end|>\n<|im_start|>assistant\nYou are welcome!<|im_end|>"}, Prompts: []string{"<|im_start|>user\nThank you!<|im_end|>\n<|im_start|>assistant\n"},
		Labels: []string{`{"tools":[],"expected":{"calls":[]}}`},
	}
	sent, err := dialect.OpenRLHF(query, &intake.Desk{})
	if err != nil {
		panic("api: the example of rewards is wrong: " + err.Error())
	}
	rewards, err := sent.Rewards(scored(sent.Request))
	if err != nil {
		panic("api: the example of rewards is wrong: " + err.Error())
	}
	return query, rewards
}

// scored scores an example.
func scored(request grpo.Request) grpo.Response {
	scorer, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err == nil {
		var response grpo.Response
		if response, err = scorer.Score(context.Background(), request); err == nil {
			return response
		}
	}
	panic("api: an example cannot be scored: " + err.Error())
}

func exampleRun() training.State {
	return training.State{ID: "7XJ3T4ZQ", State: training.Running, Created: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Updates: 120,
		Config: train.Config{Env: "arithmetic", Levels: []string{"0", "1", "2"}, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: train.GRPO, Updates: 4000,
			Network: policy.Default(policy.UpdateGRPO, policy.PoolOrdered, arithmetic.NewEnumerator().Vocabulary())}}
}
