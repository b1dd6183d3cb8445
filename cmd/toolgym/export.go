package main

import (
	"fmt"
	"io"
	"strings"

	"toolgym/api/dialect/trl"
	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
)

type exportCommand struct {
	TRL exportTRLCommand `cmd:"" name:"trl" help:"A Python script for Hugging Face TRL's GRPOTrainer, paid by a toolgym server."`
}

type exportTRLCommand struct {
	Server string `help:"The toolgym server, as the trainer reaches it." default:"http://127.0.0.1:8080" placeholder:"URL"`
	Env    string `help:"Environment to train on." default:"arithmetic"`
	Level  string `help:"Level (default: the environment's first)."`
	Rules  string `help:"Rules (default: the environment's first)."`
	Seed   uint64 `help:"Seed of the first task." default:"0"`
	Tasks  int    `help:"How many tasks." default:"1000" placeholder:"N"`

	Rubric        string `help:"What completions are paid for, YAML or JSON (default: format 1, schema 1.5, completion 3, length -0.05)." placeholder:"FILE"`
	Family        string `help:"How the model writes calls." default:"auto"`
	Normalization string `help:"What an advantage is divided by: group, batch or none." default:"group"`

	Beta                    float64  `help:"Weight of the divergence from the reference." default:"0.05"`
	Epsilon                 float64  `help:"The ratio is clipped at 1-ε." default:"0.2"`
	EpsilonHigh             *float64 `help:"And at 1+ε (default: --epsilon)."`
	LossType                string   `help:"grpo, bnpo, dr_grpo or dapo." default:"dapo"`
	ImportanceSamplingLevel string   `help:"token or sequence." default:"token"`
	NumGenerations          int      `help:"Completions of a task." default:"8" placeholder:"G"`
	MaxCompletionLength     int      `help:"In tokens." default:"512" placeholder:"N"`
	Temperature             float64  `help:"Of sampling." default:"1"`

	Model                     string  `help:"Name or path of the model." default:"Qwen/Qwen2.5-0.5B-Instruct"`
	LearningRate              float64 `help:"Learning rate." default:"1e-5"`
	GradientAccumulationSteps int     `help:"Groups of a device that make up an update." default:"4" placeholder:"N"`
	MaxSteps                  int     `help:"Updates." default:"250" placeholder:"N"`
	OutputDir                 string  `help:"Folder of the trained model." default:"toolgym-grpo" placeholder:"DIR"`

	LoRA              bool     `name:"lora" help:"Train adapters instead of the whole model." default:"true" negatable:""`
	LoRAR             int      `name:"lora-r" help:"Rank of the adapters." default:"16"`
	LoRAAlpha         int      `name:"lora-alpha" help:"Their scale." default:"32"`
	LoRADropout       float64  `name:"lora-dropout" help:"Their dropout." default:"0.05"`
	LoRATargetModules []string `name:"lora-target-modules" help:"Layers that get adapters (default: all linear ones)." placeholder:"NAME"`

	TimeoutS int    `help:"Of one request to the server, in seconds." default:"60" placeholder:"N"`
	Attempts int    `help:"How often at most a request is sent." default:"5" placeholder:"N"`
	Output   string `short:"o" help:"File to write (default: stdout)." placeholder:"FILE"`
}

// Help shows how the command is used.
func (exportTRLCommand) Help() string {
	return `Writes a Python program that trains a model with TRL's GRPOTrainer on tasks of an
environment. The reward function asks POST /v1/score of a running toolgym serve;
a token is read from the variable TOOLGYM_TOKEN when the program runs. It sets
the arguments that the installed GRPOConfig has, and prints which it left out.

Examples:
  toolgym export trl --level 2 -o train.py
  toolgym export trl --rubric rubric.yaml --model Qwen/Qwen3-0.6B --family hermes --beta 0`
}

func (c exportTRLCommand) Run(world *console) error {
	settings, err := c.settings()
	if err != nil {
		return err
	}
	if spec, err := world.specs.Lookup(c.Env); err == nil { // a server may have others
		if _, err := spec.Task(c.Rules, c.Level, c.Seed); err != nil {
			return ofFlag(err)
		}
	}
	script, err := settings.Script()
	if err != nil {
		return ofFlag(err)
	}
	return world.writeFile(c.Output, func(w io.Writer) error {
		if _, err := w.Write(script); err != nil {
			return fmt.Errorf("writing the script: %w", err)
		}
		return nil
	})
}

func (c exportTRLCommand) settings() (trl.Settings, error) {
	rubric, err := readRubric(c.Rubric)
	if err != nil {
		return trl.Settings{}, err
	}
	settings := trl.Settings{
		Server: c.Server, Env: c.Env, Level: c.Level, Rules: c.Rules, Seed: c.Seed, Tasks: c.Tasks,
		Rubric: rubric, Family: parse.Family(c.Family), Normalization: objective.Normalization(c.Normalization),
		Beta: c.Beta, Epsilon: c.Epsilon, EpsilonHigh: c.EpsilonHigh, Loss: c.LossType, Importance: c.ImportanceSamplingLevel,
		Generations: c.NumGenerations, Longest: c.MaxCompletionLength, Temperature: c.Temperature,
		Model: c.Model, LearningRate: c.LearningRate, Accumulate: c.GradientAccumulationSteps, Steps: c.MaxSteps, Output: c.OutputDir,
		Timeout: c.TimeoutS, Attempts: c.Attempts,
	}
	if c.LoRA {
		settings.LoRA = &trl.LoRA{R: c.LoRAR, Alpha: c.LoRAAlpha, Dropout: c.LoRADropout, Targets: c.LoRATargetModules}
	}
	return settings, nil
}

// ofFlag says in a caller's mistake which flag it is in: a setting's name, with
// dashes.
func ofFlag(err error) error {
	return refusal.Relocate(err, func(where string) string {
		return "--" + strings.NewReplacer("_", "-", "/", "-").Replace(strings.TrimPrefix(where, "/"))
	})
}
