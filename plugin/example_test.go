package plugin_test

import (
	"context"
	"fmt"

	"toolgym/plugin"
	"toolgym/policy/trained"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

type fareInput struct {
	From string  `json:"from" jsonschema:"description=Start of the trip."`
	Km   float64 `json:"km" jsonschema:"minimum=0"`
}

// Tools gives langchaingo typed tools: input and output are JSON objects, and a
// mistake of the agent is an output.
func ExampleTools() {
	fare := tools.New("fare", "The price of a trip, in euros.", func(_ context.Context, in fareInput) (map[string]float64, error) {
		return map[string]float64{"euros": 4 + 2*in.Km}, nil
	})
	list, err := plugin.Tools(tools.Set{fare})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, input := range []string{`{"from":"Graz","km":5}`, `{"from":"Graz","km":"5"}`} {
		output, err := list[0].Call(context.Background(), input)
		fmt.Println(output, err)
	}
	// Output:
	// {"euros":14} <nil>
	// {"error":"invalid arguments for fare: /km: got string, want number"} <nil>
}

// An agent with a trained policy in place of a language model plays one episode;
// the recorder has what a grader needs.
func ExampleNewPolicyModel() {
	ctx, spec := context.Background(), gridworld.Spec()
	task, err := spec.Task("", "1", 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	net, _, err := trained.Load("gridworld", "1")
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := plugin.NewPolicyModel(net, spec, task)
	if err != nil {
		fmt.Println(err)
		return
	}
	recorder := &plugin.Recorder{Task: task}
	agent, err := plugin.NewAgent(plugin.AgentConfig{Model: model, Callbacks: recorder})
	if err != nil {
		fmt.Println(err)
		return
	}
	trajectory, err := tools.Rollout(ctx, spec.New(), task, agent)
	if err != nil {
		fmt.Println(err)
		return
	}
	completion, err := recorder.Completion()
	fmt.Println("success:", trajectory.Success, "recorded:", len(completion.Messages) > 0, err)
	// Output:
	// success: true recorded: true <nil>
}
