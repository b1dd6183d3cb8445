package trl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"toolgym/grpo"
	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
)

// Settings are the settings of a script. [Default] returns the defaults, which
// JSON without a field gets as well. A field that is an argument of GRPOConfig has
// its name in JSON.
type Settings struct {
	Server string `json:"server" required:"false" doc:"URL of the toolgym server. Default http://127.0.0.1:8080."`
	Env    string `json:"env" required:"false" doc:"Environment of the tasks. Default arithmetic."`
	Level  string `json:"level" required:"false" doc:"Level of the tasks. Default: the first of the environment."`
	Rules  string `json:"rules" required:"false" doc:"Rules of the tasks. Default: the first of the environment."`
	Seed   uint64 `json:"seed" required:"false" format:"uint64" doc:"Seed of the first task. Default 0."`
	Tasks  int    `json:"tasks" required:"false" minimum:"1" maximum:"1000000" doc:"Number of tasks, with consecutive seeds. Default 1000."`

	Rubric        grpo.Rubric             `json:"rubric" required:"false" doc:"Rubric of the reward. Default: that of the published lab."`
	Family        parse.Family            `json:"family" required:"false" doc:"Format of the model's calls. Default auto."`
	Normalization objective.Normalization `json:"normalization" required:"false" enum:"group,batch,none" doc:"Normalization of advantages; scale_rewards of TRL. Default group."`
	Beta          float64                 `json:"beta" required:"false" minimum:"0" doc:"KL coefficient β. Default 0.05."`
	Epsilon       float64                 `json:"epsilon" required:"false" minimum:"0" doc:"Clip range ε: the ratio is clipped at 1−ε. Default 0.2."`
	EpsilonHigh   *float64                `json:"epsilon_high" required:"false" nullable:"true" minimum:"0" doc:"Upper clip range: the ratio is clipped at 1+ε. Default: epsilon."`
	Loss          string                  `json:"loss_type" required:"false" enum:"grpo,bnpo,dr_grpo,dapo" doc:"Aggregation of the token losses. Default dapo."`
	Importance    string                  `json:"importance_sampling_level" required:"false" enum:"token,sequence" doc:"Level of the importance ratio. Default token."`
	Generations   int                     `json:"num_generations" required:"false" minimum:"2" maximum:"1024" doc:"Group size: completions per task, and per device. Default 8."`
	Longest       int                     `json:"max_completion_length" required:"false" minimum:"1" maximum:"1048576" doc:"Maximum tokens of a completion. Default 512."`
	Temperature   float64                 `json:"temperature" required:"false" minimum:"0" doc:"Sampling temperature, above 0. Default 1."`

	Model        string  `json:"model" required:"false" doc:"Name or path of the model for transformers. Default Qwen/Qwen2.5-0.5B-Instruct."`
	LoRA         *LoRA   `json:"lora" required:"false" doc:"LoRA adapters; null trains the whole model."`
	LearningRate float64 `json:"learning_rate" required:"false" minimum:"0" doc:"Learning rate, above 0. Default 1e-5."`
	Accumulate   int     `json:"gradient_accumulation_steps" required:"false" minimum:"1" maximum:"65536" doc:"Groups per device and update. Default 4."`
	Steps        int     `json:"max_steps" required:"false" minimum:"1" maximum:"1000000000" doc:"Number of updates. Default 250."`
	Output       string  `json:"output_dir" required:"false" doc:"Directory of checkpoints and of the trained model. Default toolgym-grpo."`

	Timeout  int `json:"timeout_s" required:"false" minimum:"1" maximum:"3600" doc:"Timeout of a request to the server, in seconds. Default 60."`
	Attempts int `json:"attempts" required:"false" minimum:"1" maximum:"100" doc:"Maximum attempts per request. Default 5."`
}

// LoRA configures low-rank adapters (arXiv:2106.09685). JSON without a field gets
// its default.
type LoRA struct {
	R       int      `json:"r" required:"false" minimum:"1" maximum:"65536" doc:"Rank. Default 16."`
	Alpha   int      `json:"alpha" required:"false" minimum:"1" maximum:"65536" doc:"LoRA alpha: the update is multiplied by alpha/r. Default 32."`
	Dropout float64  `json:"dropout" required:"false" minimum:"0" maximum:"1" doc:"LoRA dropout, below 1. Default 0.05."`
	Targets []string `json:"target_modules" required:"false" doc:"Names of the layers with adapters. Default: all linear layers."`
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

// UnmarshalJSON sets absent fields to their defaults; unknown fields are errors.
func (s *Settings) UnmarshalJSON(text []byte) error {
	type plain Settings // without this method
	read := plain(Default())
	if err := decode(text, &read); err != nil {
		return err
	}
	*s = Settings(read)
	return nil
}

// UnmarshalJSON sets absent fields to their defaults; unknown fields are errors.
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

// longest is the maximum length of a name in bytes.
const longest = 1000

// Validate returns a [*tools.Error] for the first invalid setting, with a JSON
// pointer.
func (s Settings) Validate() error {
	for _, check := range []func() error{s.checkServer, s.checkTexts, s.checkChoices, s.checkCounts, s.checkNumbers} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := s.Rubric.Validate(); err != nil {
		return refusal.Below("/rubric", err)
	}
	if s.LoRA == nil {
		return nil
	}
	return refusal.Below("/lora", s.LoRA.validate())
}

// checkServer returns an error for an invalid URL, and for one with credentials,
// since scripts are shared.
func (s Settings) checkServer() error {
	const want = "a URL such as http://127.0.0.1:8080"
	u, err := url.Parse(s.Server)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
		return refusal.New("/server", want, "invalid URL %.80q", s.Server)
	case u.User != nil:
		return refusal.New("/server", want+", and the token in the variable TOOLGYM_TOKEN", "the URL has credentials")
	}
	return nil
}

func (s Settings) checkTexts() error {
	texts := []struct{ where, value string }{{"/server", s.Server}, {"/env", s.Env}, {"/model", s.Model}, {"/output_dir", s.Output}}
	for _, t := range texts {
		if t.value == "" {
			return refusal.New(t.where, "a name", "missing")
		}
	}
	for _, t := range append(texts, struct{ where, value string }{"/level", s.Level}, struct{ where, value string }{"/rules", s.Rules}) {
		if err := checkText(t.where, t.value); err != nil {
			return err
		}
	}
	return nil
}

func checkText(where, value string) error {
	if len(value) > longest || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return refusal.New(where, fmt.Sprintf("at most %d bytes of UTF-8 without NUL", longest), "invalid text %.40q", value)
	}
	return nil
}

func (s Settings) checkChoices() error {
	for _, c := range []struct {
		where, value string
		known        []string
	}{
		{"/normalization", string(s.Normalization), []string{string(objective.NormalizeGroup), string(objective.NormalizeBatch), string(objective.NormalizeNone)}},
		{"/loss_type", s.Loss, []string{objective.LossGRPO, objective.LossBNPO, objective.LossDrGRPO, objective.LossDAPO}},
		{"/importance_sampling_level", s.Importance, []string{objective.LevelToken, objective.LevelSequence}},
	} {
		if !slices.Contains(c.known, c.value) {
			return refusal.New(c.where, "one of "+strings.Join(c.known, ", "), "unknown value %.40q", c.value)
		}
	}
	return s.Family.Validate()
}

// A bound is the range of a number.
type bound struct {
	where      string
	value      int
	least, top int
}

func (b bound) check() error {
	if b.value < b.least || b.value > b.top {
		return refusal.New(b.where, fmt.Sprintf("%d to %d", b.least, b.top), "got %d", b.value)
	}
	return nil
}

func (s Settings) checkCounts() error {
	for _, b := range []bound{
		{"/tasks", s.Tasks, 1, 1_000_000}, {"/num_generations", s.Generations, 2, 1024}, {"/max_completion_length", s.Longest, 1, 1 << 20},
		{"/gradient_accumulation_steps", s.Accumulate, 1, 1 << 16}, {"/max_steps", s.Steps, 1, 1_000_000_000},
		{"/timeout_s", s.Timeout, 1, 3600}, {"/attempts", s.Attempts, 1, 100},
	} {
		if err := b.check(); err != nil {
			return err
		}
	}
	if left := math.MaxUint64 - s.Seed; uint64(s.Tasks-1) > left {
		return refusal.New("/seed", fmt.Sprintf("at most %d", uint64(math.MaxUint64)-uint64(s.Tasks-1)), "not enough seeds for %d tasks", s.Tasks)
	}
	return nil
}

func (s Settings) checkNumbers() error {
	high := s.Epsilon
	if s.EpsilonHigh != nil {
		high = *s.EpsilonHigh
	}
	for _, n := range []struct {
		where string
		value float64
		zero  bool // may be 0
	}{
		{"/beta", s.Beta, true}, {"/epsilon", s.Epsilon, true}, {"/epsilon_high", high, true},
		{"/temperature", s.Temperature, false}, {"/learning_rate", s.LearningRate, false},
	} {
		switch {
		case !(n.value >= 0) || math.IsInf(n.value, 0):
			return refusal.New(n.where, "a finite number, at least 0", "got %v", n.value)
		case n.value == 0 && !n.zero:
			return refusal.New(n.where, "a number above 0", "got 0")
		}
	}
	return nil
}

func (l LoRA) validate() error {
	for _, b := range []bound{{"/r", l.R, 1, 1 << 16}, {"/alpha", l.Alpha, 1, 1 << 16}, {"/target_modules", len(l.Targets), 0, 1000}} {
		if err := b.check(); err != nil {
			return err
		}
	}
	if !(l.Dropout >= 0 && l.Dropout < 1) {
		return refusal.New("/dropout", "at least 0, and below 1", "got %v", l.Dropout)
	}
	for i, target := range l.Targets {
		where := fmt.Sprintf("/target_modules/%d", i)
		if target == "" {
			return refusal.New(where, "the name of a layer", "missing")
		}
		if err := checkText(where, target); err != nil {
			return err
		}
	}
	return nil
}
