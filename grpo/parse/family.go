package parse

import (
	"slices"
	"strings"

	"toolgym/internal/refusal"
)

// Family names a way of writing tool calls. The empty family is Auto.
type Family string

// The families, each with the native form that its file describes.
const (
	Auto          Family = "auto"
	Hermes        Family = "hermes"
	Qwen3Coder    Family = "qwen3-coder"
	Llama3JSON    Family = "llama3_json"
	Pythonic      Family = "pythonic"
	Llama4        Family = "llama4"
	LFM2          Family = "lfm2"
	Olmo3         Family = "olmo3"
	Mistral       Family = "mistral"
	Granite       Family = "granite"
	Phi4Mini      Family = "phi4-mini"
	Functionary   Family = "functionary"
	Command       Family = "command"
	GLM45         Family = "glm-4.5"
	GLM40414      Family = "glm-4-0414"
	DeepSeekR1    Family = "deepseek-r1"
	DeepSeekV31   Family = "deepseek-v3.1"
	DeepSeekV32   Family = "deepseek-v3.2"
	KimiK2        Family = "kimi-k2"
	Gemma4        Family = "gemma4"
	FunctionGemma Family = "functiongemma"
	Harmony       Family = "harmony"
	Structured    Family = "structured"
)

// Families lists all families in a fixed order, Auto last.
func Families() []Family {
	return []Family{
		Hermes, Qwen3Coder, Llama3JSON, Pythonic, Llama4, LFM2, Olmo3, Mistral, Granite, Phi4Mini, Functionary, Command,
		GLM45, GLM40414, DeepSeekR1, DeepSeekV31, DeepSeekV32, KimiK2, Gemma4, FunctionGemma, Harmony, Structured, Auto,
	}
}

// Validate reports a name that is no family's. The empty name stands for Auto.
func (f Family) Validate() error {
	if f == "" || slices.Contains(Families(), f) {
		return nil
	}
	var names []string
	for _, known := range Families() {
		names = append(names, string(known))
	}
	return refusal.New("/family", strings.Join(names, ", "), "unknown family %.60q", f)
}

// form is how one family writes calls. Each family's file makes its own.
type form struct {
	// opens are the markers that start an attempt in the family's form.
	opens tokens

	// read reads the attempt at one of them. It answers false, having changed
	// nothing but the list of attempts, when there is no attempt in the
	// family's form: the marker is then text, or another family's.
	read func(s *scan, m mark) bool

	// start reads a form without markers where the content begins.
	start func(s *scan, at int) bool

	// render writes calls in the native form.
	render func(calls []renderable) (string, error)

	calls      bool // the payload is call expressions, f(a=1), and not JSON
	proseAfter bool // the form allows text behind the last call
}

// formOf is the table of families.
func formOf(f Family) form {
	switch f {
	case Hermes:
		return hermesForm()
	case Qwen3Coder:
		return qwen3CoderForm()
	case Llama3JSON:
		return llama3JSONForm()
	case Pythonic:
		return pythonicForm()
	case Llama4:
		return llama4Form()
	case LFM2:
		return lfm2Form()
	case Olmo3:
		return olmo3Form()
	case Mistral:
		return mistralForm()
	case Granite:
		return graniteForm()
	case Phi4Mini:
		return phi4MiniForm()
	case Functionary:
		return functionaryForm()
	case Command:
		return commandForm()
	case GLM45:
		return glm45Form()
	case GLM40414:
		return glm40414Form()
	case DeepSeekR1:
		return deepSeekR1Form()
	case DeepSeekV31:
		return deepSeekV31Form()
	case DeepSeekV32:
		return deepSeekV32Form()
	case KimiK2:
		return kimiK2Form()
	case Gemma4:
		return gemma4Form()
	case FunctionGemma:
		return functionGemmaForm()
	case Harmony:
		return harmonyForm()
	}
	return form{}
}
