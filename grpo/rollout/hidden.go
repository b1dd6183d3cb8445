package rollout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolgym/grpo/parse"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// Hidden lists what the chat route's form can not carry of the tools' schemas,
// so that a model never sees it: JSON pointers into the list of tools. Calls
// are validated against it all the same.
func Hidden(set tools.Set) ([]string, error) {
	converted, err := ollamaTools(set)
	if err != nil {
		return nil, err
	}
	whole, err := plain(set)
	if err != nil {
		return nil, err
	}
	seen, err := plain(converted)
	if err != nil {
		return nil, err
	}
	return lost("", whole, seen), nil
}

// plain is a value as JSON has it.
func plain(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding tools: %w", err)
	}
	var out any
	err = json.Unmarshal(text, &out)
	return out, err
}

// lost names what stands in whole and not in seen.
func lost(at string, whole, seen any) []string {
	var list []string
	switch w := whole.(type) {
	case map[string]any:
		s, _ := seen.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(w)) {
			value, ok := s[key]
			pointer := at + strictjson.Pointer(key)
			if !ok {
				list = append(list, pointer)
				continue
			}
			list = append(list, lost(pointer, w[key], value)...)
		}
	case []any:
		s, _ := seen.([]any)
		for i := range w {
			pointer := fmt.Sprintf("%s/%d", at, i)
			if i >= len(s) {
				list = append(list, pointer)
				continue
			}
			list = append(list, lost(pointer, w[i], s[i])...)
		}
	}
	return list
}

// FamilyHint guesses from a model's template how it writes calls. It is a hint
// for people: grading reads by auto unless told otherwise.
func FamilyHint(template string) parse.Family {
	for _, known := range []struct {
		mark   string
		family parse.Family
	}{
		{"<function=", parse.Qwen3Coder}, {"<tool_call>", parse.Hermes}, {"[TOOL_CALLS]", parse.Mistral}, {"<|python_tag|>", parse.Llama3JSON},
		{"functools[", parse.Phi4Mini}, {"<|tool_call|>", parse.Granite}, {"<|tool_call_start|>", parse.LFM2}, {"<|START_ACTION|>", parse.Command},
		{"<|channel|>", parse.Harmony}, {"<｜tool▁calls▁begin｜>", parse.DeepSeekR1}, {"<|tool_calls_section_begin|>", parse.KimiK2},
		{"<start_function_call>", parse.FunctionGemma}, {"<|tool_call>", parse.Gemma4}, {`"parameters":`, parse.Llama3JSON},
	} {
		if strings.Contains(template, known.mark) {
			return known.family
		}
	}
	return parse.Auto
}
