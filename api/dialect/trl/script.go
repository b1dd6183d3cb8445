package trl

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"

	"toolgym/grpo"
	"toolgym/grpo/objective"
)

//go:embed script.py.tmpl
var scriptText string

// ScriptName is the default name of the script.
const ScriptName = "train_toolgym.py"

// A page is the data of the template.
type page struct {
	Settings
	Family    string
	Arguments []argument
	Targets   any // of LoRA
}

// An argument is an argument of GRPOConfig: a name, and a value with a literal.
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
		return nil, fmt.Errorf("parsing the template of scripts: %w", err)
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

// arguments returns the arguments of GRPOConfig. Prompts are never truncated: the
// tools at their beginning would be lost first.
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

// scaling is the normalization for all releases of TRL: a boolean, or a string
// for releases with more than two values.
func (s Settings) scaling() any {
	switch s.Normalization {
	case objective.NormalizeGroup:
		return true
	case objective.NormalizeNone:
		return false
	}
	return string(s.Normalization)
}

// targets returns peft's target_modules.
func (l LoRA) targets() any {
	if len(l.Targets) == 0 {
		return "all-linear"
	}
	return l.Targets
}

// literal returns a value as a Python literal on one line: a string, a number, a
// boolean, nil, a list of strings or a rubric's criterion. A float has a decimal
// point: 3.0. A value that is not finite is a bug of this package, since settings
// are validated.
func literal(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "None", nil
	case bool:
		return map[bool]string{true: "True", false: "False"}[v], nil
	case string:
		return quoted(v), nil
	case int:
		return strconv.Itoa(v), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	case float64:
		return float(v)
	case []string:
		texts := make([]string, len(v))
		for i, s := range v {
			texts[i] = quoted(s)
		}
		return "[" + strings.Join(texts, ", ") + "]", nil
	case grpo.Criterion:
		return criterion(v)
	}
	return "", fmt.Errorf("no Python literal for type %T", v)
}

// quoted returns a string in double quotes. Go's escapes of valid UTF-8 (\n, \",
// \\, \x00, \u200b, \U0001f600, …) mean the same in Python, and all characters
// that are not printable are escaped.
func quoted(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) }

func float(v float64) (string, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", fmt.Errorf("no Python literal for %v", v)
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text, nil
}

// criterion returns the JSON of a criterion as a literal.
func criterion(c grpo.Criterion) (string, error) {
	weight, err := float(c.Weight)
	if err != nil {
		return "", err
	}
	fields := []string{`"weight": ` + weight}
	if c.Unit != "" {
		fields = append(fields, `"unit": `+quoted(c.Unit))
	}
	if c.Soft != 0 {
		fields = append(fields, `"soft": `+strconv.Itoa(c.Soft))
	}
	if c.Max != 0 {
		fields = append(fields, `"max": `+strconv.Itoa(c.Max))
	}
	if c.Formula != "" {
		fields = append(fields, `"formula": `+quoted(c.Formula))
	}
	return "{" + strings.Join(fields, ", ") + "}", nil
}
