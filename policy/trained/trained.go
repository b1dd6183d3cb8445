package trained

import (
	"embed"
	"fmt"

	"toolgym/policy"
	"toolgym/tools"
)

//go:embed *.safetensors *.json
var files embed.FS

// Agent returns an agent that plays an environment by the policy trained for
// it. It is used by one goroutine at a time. An environment without one is an
// [*tools.Error], code NotFound.
func Agent(spec tools.Spec) (tools.Agent, error) {
	net, _, err := Load(spec.Name)
	if err != nil {
		return nil, err
	}
	return policy.NewAgent(net, spec.Enumerate), nil
}

// Load reads the network trained for an environment.
func Load(env string) (*policy.Net, policy.Checkpoint, error) {
	weights, err := files.ReadFile(env + ".safetensors")
	if err != nil {
		return nil, policy.Checkpoint{}, &tools.Error{Code: tools.NotFound, Where: "env", Message: fmt.Sprintf("no policy is trained for %q", env), Want: "a checkpoint of your own: toolgym train"}
	}
	sidecar, err := files.ReadFile(env + ".json")
	if err != nil {
		return nil, policy.Checkpoint{}, fmt.Errorf("reading the trained policy: %w", err)
	}
	return policy.DecodeNet(weights, sidecar)
}
