package trl

import (
	"bytes"
	_ "embed"
	"fmt"
	"text/template"

	"toolgym/grpo/objective"
)

//go:embed script.py.tmpl
var scriptText string

// ScriptName is what a script is called where nobody names it.
const ScriptName = "train_toolgym.py"

// A page is what the template is filled with.
type page struct {
	Settings
	Family    string
	Arguments []argument
	Targets   any // of LoRA
}

// An argument is one of GRPOConfig's: a name, and a value that has a literal.
type argument struct {
	Name  string
	Value any
}

// Script writes the settings as a Python program. Settings that are not valid
// are a [*tools.Error] with code invalid.
func (s Settings) Script() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	form, err := template.New(ScriptName).Funcs(template.FuncMap{"py": literal}).Parse(scriptText)
	if err != nil {
		return nil, fmt.Errorf("reading the template of scripts: %w", err)
	}
	filled := page{Settings: s, Family: string(s.Family), Arguments: s.arguments()}
	if s.LoRA != nil {
		filled.Targets = s.LoRA.targets()
	}
	var text bytes.Buffer
	if err := form.Execute(&text, filled); err != nil {
		return nil, fmt.Errorf("writing a script: %w", err)
	}
	return text.Bytes(), nil
}

// arguments are what the script wants of GRPOConfig. Prompts are never cut: the
// tools stand at their beginning, and would go first.
func (s Settings) arguments() []argument {
	list := []argument{
		{"output_dir", s.Output}, {"max_steps", s.Steps}, {"learning_rate", s.LearningRate}, {"gradient_accumulation_steps", s.Accumulate},
		{"num_generations", s.Generations}, {"max_prompt_length", nil}, {"max_completion_length", s.Longest}, {"temperature", s.Temperature},
		{"beta", s.Beta}, {"epsilon", s.Epsilon},
	}
	if s.EpsilonHigh != nil {
		list = append(list, argument{"epsilon_high", *s.EpsilonHigh})
	}
	return append(list, argument{"loss_type", s.Loss}, argument{"importance_sampling_level", s.Importance}, argument{"scale_rewards", s.scaling()},
		argument{"remove_unused_columns", false}, argument{"logging_steps", 1})
}

// scaling is the normalization as every release of TRL reads it: a truth value,
// or a text for those that know more than two ways.
func (s Settings) scaling() any {
	switch s.Normalization {
	case objective.NormalizeGroup:
		return true
	case objective.NormalizeNone:
		return false
	}
	return string(s.Normalization)
}

// targets are the layers as peft takes them.
func (l LoRA) targets() any {
	if len(l.Targets) == 0 {
		return "all-linear"
	}
	return l.Targets
}
