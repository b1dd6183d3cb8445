package lab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolgym/api/training"
	"toolgym/grpo/objective"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
)

// A startForm is the form that asks for a training: the fields of
// [training.Start], each with its choices.
type startForm struct {
	Envs      []trainable
	Algorithm choice
	Choices   []choice
	Sliders   []Slider // of GRPO
	Presets   []preset
}

// A trainable is an environment that the policy can be trained on.
type trainable struct {
	Name   string
	Levels []string // those that are stages of a network
}

// A choice is a field with a few values, the first of which is the preset.
type choice struct {
	Name, Label string
	Options     []option
}

type option struct{ Value, Label string }

// A preset is a training with a name.
type preset struct {
	Name, Help string
	Start      training.Start
}

// Body is the preset as the body of the request that starts it.
func (p preset) Body() (string, error) {
	text, err := json.Marshal(p.Start)
	return string(text), err
}

// startForm fills the form in for the server's environments.
func (l *Lab) startForm() startForm {
	f := startForm{Algorithm: choice{"algo", "Algorithm", []option{{train.GRPO, "GRPO, group-relative"}, {train.A2C, "A2C, actor-critic"}}}, Choices: []choice{
		{"rules", "Rules", []option{{tools.Sound, "sound"}, {tools.Documented, "documented"}}},
		{"curriculum", "Curriculum", []option{{train.Mastery, "mastery"}, {train.Published, "documented"}}},
		{"pool", "Context", []option{{policy.PoolOrdered, "in order, by a GRU"}, {policy.PoolOwn, "its own, without order"}, {policy.PoolBatch, "mean of the batch (published)"}}},
	}}
	loss := objective.Default()
	f.Sliders = []Slider{
		{Name: "beta", Label: "KL β", Help: "weight of the divergence in the loss", Max: 1, Step: 0.01, Value: loss.Beta},
		{Name: "epsilon", Label: "Clip ε", Help: "the ratio is held within 1 ± ε", Min: 0.01, Max: 1, Step: 0.01, Value: loss.Epsilon},
	}
	for _, spec := range l.config.Specs {
		if spec.Enumerate != nil {
			f.Envs = append(f.Envs, trainable{spec.Name, stages(spec)})
		}
	}
	for _, p := range trainingPresets() {
		if slices.ContainsFunc(f.Envs, func(t trainable) bool { return t.Name == p.Start.Env }) {
			f.Presets = append(f.Presets, p)
		}
	}
	return f
}

// stages lists the levels that are numbers: those that a network can be told.
func stages(spec tools.Spec) (levels []string) {
	for _, level := range spec.Levels {
		if _, err := strconv.Atoi(level); err == nil {
			levels = append(levels, level)
		}
	}
	return levels
}

// trainingPresets are trainings worth watching. How long they take was measured
// on two cores (policy/RESULTS.md).
func trainingPresets() []preset {
	first := []string{"0", "1", "2"}
	return []preset{
		{"Half a minute", "GRPO on all five stages of arithmetic",
			training.Start{Env: "arithmetic", Stages: []string{"0", "1", "2", "3", "4"}, Algo: train.GRPO, Seed: 1, Updates: 1500}},
		{"A few seconds", "GRPO on stages 0 to 2, until they are mastered",
			training.Start{Env: "arithmetic", Stages: first, Algo: train.GRPO, Seed: 1, Updates: 1000}},
		{"Actor-critic", "the same stages by A2C, to lay beside it",
			training.Start{Env: "arithmetic", Stages: first, Algo: train.A2C, Seed: 1, Updates: 1500}},
		{"The published run", "60 updates by A2C, documented rules and curriculum: too few to learn",
			training.Start{Env: "arithmetic", Stages: first, Algo: train.A2C, Rules: tools.Documented, Curriculum: train.Published, Pool: policy.PoolBatch, Updates: 60}},
		{"Gridworld", "long plans with a key and a door, by A2C",
			training.Start{Env: "gridworld", Stages: []string{"0"}, Algo: train.A2C, Updates: 2000}},
	}
}

// titleOf says what a run is, without what is as usual.
func titleOf(c train.Config) string {
	parts := []string{strings.ToUpper(c.Algorithm), c.Env + " " + listed(c.Levels)}
	if c.Rules != tools.Sound {
		parts = append(parts, c.Rules+" rules")
	}
	if c.Curriculum != train.Mastery {
		parts = append(parts, c.Curriculum+" curriculum")
	}
	if c.Network.Pool != policy.PoolOrdered {
		parts = append(parts, "pool "+c.Network.Pool)
	}
	loss := objective.Default()
	if c.Algorithm == train.GRPO && c.Network.GRPO.Beta != loss.Beta {
		parts = append(parts, fmt.Sprintf("β %g", c.Network.GRPO.Beta))
	}
	if c.Algorithm == train.GRPO && c.Network.GRPO.Epsilon != loss.Epsilon {
		parts = append(parts, fmt.Sprintf("ε %g", c.Network.GRPO.Epsilon))
	}
	return strings.Join(append(parts, fmt.Sprintf("seed %d", c.Seed)), " · ")
}

// listed writes levels: 0–4 where they follow one another.
func listed(levels []string) string {
	for i, level := range levels {
		if n, err := strconv.Atoi(level); err != nil || len(levels) < 3 || n != i+int(levels[0][0]-'0') {
			return strings.Join(levels, ", ")
		}
	}
	return levels[0] + "–" + levels[len(levels)-1]
}
