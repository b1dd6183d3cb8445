package trl

import (
	"bytes"
	"encoding/json"

	"toolgym/grpo"
	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
)

// Settings are what a script is written from. [Default] gives the defaults; JSON
// that leaves a field out gets them too. Where GRPOConfig has an argument for a
// field, the JSON has its name.
type Settings struct {
	Server string `json:"server" required:"false" doc:"URL of the toolgym server, as the trainer reaches it. Default http://127.0.0.1:8080."`
	Env    string `json:"env" required:"false" doc:"The environment whose tasks are trained on. Default arithmetic."`
	Level  string `json:"level" required:"false" doc:"Their level; empty, the default, is the environment's first."`
	Rules  string `json:"rules" required:"false" doc:"Their rules; empty, the default, is the environment's first."`
	Seed   uint64 `json:"seed" required:"false" format:"uint64" doc:"Of the first task. Default 0."`
	Tasks  int    `json:"tasks" required:"false" minimum:"1" maximum:"1000000" doc:"How many tasks, by as many seeds. Default 1000."`

	Rubric        grpo.Rubric             `json:"rubric" required:"false" doc:"What completions are paid for. Default the published lab's."`
	Family        parse.Family            `json:"family" required:"false" doc:"How the model writes calls. Default auto."`
	Normalization objective.Normalization `json:"normalization" required:"false" enum:"group,batch,none" doc:"What an advantage is divided by; TRL's scale_rewards. Default group."`
	Beta          float64                 `json:"beta" required:"false" minimum:"0" doc:"Weight of the divergence from the reference. Default 0.05."`
	Epsilon       float64                 `json:"epsilon" required:"false" minimum:"0" doc:"The ratio is clipped at 1−ε. Default 0.2."`
	EpsilonHigh   *float64                `json:"epsilon_high" required:"false" nullable:"true" minimum:"0" doc:"And at 1+ε; null, the default, means epsilon."`
	Loss          string                  `json:"loss_type" required:"false" enum:"grpo,bnpo,dr_grpo,dapo" doc:"How the tokens' losses become one number. Default dapo."`
	Importance    string                  `json:"importance_sampling_level" required:"false" enum:"token,sequence" doc:"Of the ratio. Default token."`
	Generations   int                     `json:"num_generations" required:"false" minimum:"2" maximum:"1024" doc:"Completions of a task: a group, and what a device takes at a time. Default 8."`
	Longest       int                     `json:"max_completion_length" required:"false" minimum:"1" maximum:"1048576" doc:"In tokens. Default 512."`
	Temperature   float64                 `json:"temperature" required:"false" minimum:"0" doc:"Of sampling, above 0. Default 1."`

	Model        string  `json:"model" required:"false" doc:"Name or path of the model, as transformers knows it. Default Qwen/Qwen2.5-0.5B-Instruct."`
	LoRA         *LoRA   `json:"lora" required:"false" doc:"Adapters that are trained instead of the whole model; null trains the whole."`
	LearningRate float64 `json:"learning_rate" required:"false" minimum:"0" doc:"Above 0. Default 1e-5."`
	Accumulate   int     `json:"gradient_accumulation_steps" required:"false" minimum:"1" maximum:"65536" doc:"Groups of a device that make up an update. Default 4."`
	Steps        int     `json:"max_steps" required:"false" minimum:"1" maximum:"1000000000" doc:"Updates. Default 250."`
	Output       string  `json:"output_dir" required:"false" doc:"Folder of checkpoints and of the trained model. Default toolgym-grpo."`

	Timeout  int `json:"timeout_s" required:"false" minimum:"1" maximum:"3600" doc:"Of one request to the server, in seconds. Default 60."`
	Attempts int `json:"attempts" required:"false" minimum:"1" maximum:"100" doc:"How often at most a request is sent. Default 5."`
}

// LoRA configures low-rank adapters (arXiv:2106.09685). JSON that leaves a field
// out gets the default here as well.
type LoRA struct {
	R       int      `json:"r" required:"false" minimum:"1" maximum:"65536" doc:"Rank. Default 16."`
	Alpha   int      `json:"alpha" required:"false" minimum:"1" maximum:"65536" doc:"The update is multiplied by alpha/r. Default 32."`
	Dropout float64  `json:"dropout" required:"false" minimum:"0" maximum:"1" doc:"Below 1. Default 0.05."`
	Targets []string `json:"target_modules" required:"false" doc:"Names of the layers that get adapters; empty, the default, means all linear ones."`
}

// Default returns the defaults: the published rubric, β 0.05, ε 0.2 and groups
// of eight, on arithmetic.
func Default() Settings {
	loss := objective.Default()
	return Settings{
		Server: "http://127.0.0.1:8080", Env: "arithmetic", Tasks: 1000,
		Rubric: grpo.DefaultRubric(), Family: parse.Auto, Normalization: objective.NormalizeGroup,
		Beta: loss.Beta, Epsilon: loss.Epsilon, Loss: loss.Type, Importance: loss.Level, Generations: 8, Longest: 512, Temperature: 1,
		Model: "Qwen/Qwen2.5-0.5B-Instruct", LoRA: defaultLoRA(), LearningRate: 1e-5, Accumulate: 4, Steps: 250, Output: "toolgym-grpo",
		Timeout: 60, Attempts: 5,
	}
}

func defaultLoRA() *LoRA { return &LoRA{R: 16, Alpha: 32, Dropout: 0.05, Targets: []string{}} }

// UnmarshalJSON fills in the defaults for what is left out, and refuses unknown
// fields.
func (s *Settings) UnmarshalJSON(text []byte) error {
	type plain Settings // without this method
	read := plain(Default())
	if err := decode(text, &read); err != nil {
		return err
	}
	*s = Settings(read)
	return nil
}

// UnmarshalJSON fills in the defaults for what is left out, and refuses unknown
// fields.
func (l *LoRA) UnmarshalJSON(text []byte) error {
	type plain LoRA // without this method
	read := plain(*defaultLoRA())
	if err := decode(text, &read); err != nil {
		return err
	}
	*l = LoRA(read)
	return nil
}

func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
