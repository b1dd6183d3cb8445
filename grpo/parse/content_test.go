package parse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/parse"
)

// TestCallsAreNoContent wants nothing of a call's markup to be shown to the
// user, in every form.
func TestCallsAreNoContent(t *testing.T) {
	forms := map[parse.Family]string{
		parse.Hermes:        "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>",
		parse.Qwen3Coder:    "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
		parse.LFM2:          "<|tool_call_start|>[f(a=1)]<|tool_call_end|>",
		parse.Olmo3:         "<function_calls>\nf(a=1)\n</function_calls>",
		parse.Mistral:       `[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]`,
		parse.Granite:       `<|tool_call|>[{"name": "f", "arguments": {"a": 1}}]`,
		parse.Phi4Mini:      `functools[{"name": "f", "arguments": {"a": 1}}]`,
		parse.Command:       `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>`,
		parse.GLM45:         "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
		parse.DeepSeekR1:    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		parse.DeepSeekV31:   "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		parse.DeepSeekV32:   "<｜DSML｜tool_calls><｜DSML｜invoke name=\"f\"><｜DSML｜parameter name=\"a\" string=\"false\">1</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>",
		parse.KimiK2:        `<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_calls_section_end|>`,
		parse.Gemma4:        "<|tool_call>call:f{a:1}<tool_call|>",
		parse.FunctionGemma: "<start_function_call>call:f{a:1}<end_function_call>",
	}
	several := map[parse.Family]string{
		parse.Mistral: `[TOOL_CALLS][{"name": "f", "arguments": {}}, {"name": "f", "arguments": {}}]`,
		parse.Hermes:  "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n; {\"name\": \"f\", \"arguments\": {\n</tool_call>",
	}
	for family, form := range forms {
		t.Run(string(family), func(t *testing.T) {
			for text, want := range map[string]string{form: "", "Let me see.\n" + form: "Let me see.", form + form: "", several[family] + form: ""} {
				r, err := parse.NewReader(nil).Read(parse.Input{Text: &text, Family: family})
				if err != nil || len(r.Calls) == 0 {
					t.Fatalf("%q: %d calls, %v", text, len(r.Calls), err)
				}
				if diff := cmp.Diff(want, r.Content); diff != "" {
					t.Errorf("%q:\n%s", text, diff)
				}
			}
		})
	}
}
