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
