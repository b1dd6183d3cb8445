package trained

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
)

//go:embed *.safetensors *.json
var files embed.FS

// Load reads the network that is trained for a level of an environment, and what
// it was trained on. A level without one is an [*tools.Error], code NotFound,
// which names the levels that have one.
func Load(env, level string) (*policy.Net, train.Config, error) {
	known, err := checkpoints(env)
	if err != nil {
		return nil, train.Config{}, err
	}
	for _, c := range known {
		if slices.Contains(c.config.Levels, level) {
			net, err := c.load()
			return net, c.config, err
		}
	}
	return nil, train.Config{}, missing(env, level, known)
}

// A checkpoint is one in the binary: the name of its files, and what it was
// trained on.
type checkpoint struct {
	name   string
	config train.Config
}

// checkpoints lists those of an environment.
func checkpoints(env string) ([]checkpoint, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("listing the trained policies: %w", err)
	}
	var list []checkpoint
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		config, err := configOf(name)
		if err != nil {
			return nil, fmt.Errorf("reading what the policy %s was trained on: %w", name, err)
		}
		if config.Env == env {
			list = append(list, checkpoint{name, config})
		}
	}
	return list, nil
}

func configOf(name string) (train.Config, error) {
	text, err := files.ReadFile(name + ".json")
	if err != nil {
		return train.Config{}, err
	}
	var sidecar policy.Checkpoint
	if err := json.Unmarshal(text, &sidecar); err != nil {
		return train.Config{}, err
	}
	return train.ConfigOf(sidecar)
}

// load reads the network.
func (c checkpoint) load() (*policy.Net, error) {
	weights, err := files.ReadFile(c.name + ".safetensors")
	if err != nil {
		return nil, fmt.Errorf("reading the trained policy: %w", err)
	}
	sidecar, err := files.ReadFile(c.name + ".json")
	if err != nil {
		return nil, fmt.Errorf("reading the trained policy: %w", err)
	}
	net, _, err := policy.DecodeNet(weights, sidecar)
	if err != nil {
		return nil, fmt.Errorf("decoding the trained policy %s: %w", c.name, err)
	}
	return net, nil
}

// missing refuses a level that no policy is trained for.
func missing(env, level string, known []checkpoint) error {
	e := &tools.Error{Code: tools.NotFound, Where: "level", Message: fmt.Sprintf("no policy is trained for level %q of %s", level, env)}
	var levels []string
	for _, c := range known {
		levels = append(levels, c.config.Levels...)
	}
	if len(levels) == 0 {
		e.Where, e.Message = "env", fmt.Sprintf("no policy is trained for %q", env)
	}
	e.Want = "a checkpoint of your own: toolgym train"
	if len(levels) > 0 {
		e.Want = "level " + strings.Join(levels, ", ") + ", or " + e.Want
	}
	return e
}
