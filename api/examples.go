package api

import (
	"encoding/json"
	"time"

	"toolgym/api/client"
	"toolgym/tools"
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
