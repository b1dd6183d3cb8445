package parse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/parse"
)

func TestReasoning(t *testing.T) {
	draft := hermesCall("list_rooms", "{}")
	note := func(body string) string {
		return hermesCall("save_note", `{"title": "T", "body": "`+body+`"}`)
	}
	readRows(t, parse.Hermes, []row{
		{"thinking", "<thinking>" + draft + "</thinking>" + hermesOslo, "strict: " + forecast},
		{"thought", "<thought>" + draft + "</thought>" + hermesOslo, "strict: " + forecast},
		{"brackets", "[THINK]" + draft + "[/THINK]" + hermesOslo, "strict: " + forecast},
		{"tokens", "<|START_THINKING|>" + draft + "<|END_THINKING|>" + hermesOslo, "strict: " + forecast},
		{"two blocks", "<think>" + draft + "</think>Hm.<think>" + draft + "</think>" + hermesOslo, "strict: " + forecast},
		{"behind the call", hermesOslo + "<think>" + draft + "</think>", "strict: " + forecast},
		{"closer of another kind", "<think>" + draft + "</thinking>" + hermesOslo, "none: [call_in_reasoning reasoning_unclosed]"},
		{"closer inside a call's JSON", note("</think>"), `strict: save_note{"title":"T","body":"</think>"}`},
		{"opener inside a call's JSON", note("<think>"), `strict: save_note{"title":"T","body":"<think>"}`},
		{"closer inside a call in opened reasoning", note("</think>") + "</think>" + hermesOslo, "strict: " + forecast},
		{"second closer is text", "Hm.</think>A</think>" + hermesOslo, "strict: " + forecast},
		{"fence in opened reasoning", "Like\n```\n{}</think>" + hermesOslo + "\n```", "envelope: " + forecast + " [trailing_text]"},
		{"made-up result in reasoning", "<think><tool_response>{}</tool_response></think>" + hermesOslo, "strict: " + forecast},
		{"never closed, no call", "<think>Hm, the user", "answer: [reasoning_unclosed]"},
		{"call, then reasoning that never ends", hermesOslo + "<think>Hm", "strict: " + forecast + " [reasoning_unclosed]"},
		{"prose about a call in reasoning", "<think>I could use <tool_call>.</think>Hello.", "answer:"},
	})
}

func TestMadeUpResults(t *testing.T) {
	readRows(t, parse.Hermes, []row{
		{"tag", hermesOslo + "<tool_response>{}", "envelope: " + forecast + " [fabricated_tool_result]"},
		{"role", hermesOslo + "<|im_end|>\n<|im_start|>tool\n{}<|im_end|>\n<|im_start|>assistant\n" + hermesOslo, "envelope: " + forecast + " [fabricated_tool_result]"},
		{"inside a call's JSON", hermesCall("save_note", `{"title": "<tool_response>", "body": "<|tool|>"}`), `strict: save_note{"title":"<tool_response>","body":"<|tool|>"}`},
		{"behind a lost call", inTag("{}") + "<tool_response>", "none: [fabricated_tool_result missing_name]"},
		{"without a call", "Well. <tool_response>{}</tool_response>" + hermesOslo, "answer: [fabricated_tool_result]"},
		{"in documentation", "Like:\n```\n<tool_response>{}</tool_response>\n```\nSo.", "answer:"},
		{"stop token is none", hermesOslo + "<|observation|>", "strict: " + forecast},
	})
}

func TestVisibleText(t *testing.T) {
	tests := []struct{ name, text, content, reasoning string }{
		{"prose and call", "Let me look.\n\n" + hermesOslo, "Let me look.", ""},
		{"reasoning, prose, call, prose", "<think>\nHm.\n</think>\n\nA " + hermesOslo + " B<|im_end|>", "A  B", "Hm."},
		{"two blocks", "<think>a</think>x<think>b</think>y", "xy", "ab"},
		{"opened by the prompt", "Hm.</think>Hello.", "Hello.", "Hm."},
		{"nothing behind a made-up result", "A" + hermesOslo + "B<tool_response>C", "AB", ""},
		{"lost attempt is no content", "A " + inTag("{}"), "A", ""},
		{"answer", "Hello.\n", "Hello.", ""},
		{"harmony", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>", "Hello.", "Hm."},
	}
	reader := parse.NewReader(declaredTools(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := reader.Read(parse.Input{Text: &tt.text})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.content, tt.reasoning}, []string{got.Content, got.Reasoning}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAuto(t *testing.T) {
	object := `{"name": "get_forecast", "arguments": {"city": "Oslo"}}`
	readRows(t, parse.Auto, []row{
		{"bare object", object, "strict: " + forecast},
		{"bare object and prose", object + " there.", "answer:"},
		{"bare list", "[" + object + "]", "envelope: " + forecast + " [array_in_tag]"},
		{"fence", "```json\n" + object + "\n```", "envelope: " + forecast + " [code_fence]"},
		{"alias", "<tools>" + object + "</tools>", "envelope: " + forecast + " [wrong_wrapper]"},
		{"expressions", "list_rooms()", "envelope: list_rooms{} [missing_wrapper]"},
		{"prose and list", "Sure.\n[list_rooms()]", "envelope: list_rooms{} [leading_text]"},
		{"two families, the first one is taken", hermesOslo + "[TOOL_CALLS][" + object + "]", "envelope: " + forecast + " " + forecast + " [wrong_wrapper]"},
		{"agent's protocol", "Action: list_rooms\nAction Input: {}", "none: [format_not_recognised]"},
		{"unknown tag", "<use_tool name=\"list_rooms\"></use_tool>", "none: [format_not_recognised]"},
		{"unknown tag of an unknown tool", "<use_tool name=\"fly\"></use_tool>", "answer:"},
		{"unknown tag in documentation", "So:\n```\n<use_tool name=\"list_rooms\"></use_tool>\n```\nok", "answer:"},
		{"tag with prose", "<tool_call>get_forecast Oslo</tool_call>", "none: [format_not_recognised]"},
		{"other protocol", `{"method": "list_rooms", "params": {}}`, "none: [format_not_recognised]"},
		{"doctest", ">>> get_forecast\n{}", "answer:"},
		{"data", "[1, 2, {\"a\": \"<tool_call>{}\"}]", "answer:"},
	})
}

// TestPlacesOfWhatIsNotContent are for people who look at the text.
func TestPlacesOfWhatIsNotContent(t *testing.T) {
	tests := []struct {
		name, text string
		family     parse.Family
		hidden     []string
		madeUp     string
	}{
		{"neither", "Hello.", parse.Hermes, nil, ""},
		{"two blocks", "<think>a</think>b<think>c</think>", parse.Hermes, []string{"a", "c"}, ""},
		{"never closed", "<think>a", parse.Hermes, []string{"a"}, ""},
		{"a made-up result", "a<tool_response>b</tool_response>c", parse.Hermes, nil, "<tool_response>b</tool_response>c"},
		{"in harmony", "<|start|>assistant<|channel|>analysis<|message|>a<|end|><|start|>functions.f to=assistant<|channel|>commentary<|message|>{}<|end|>",
			parse.Harmony, []string{"a"}, "<|start|>functions.f to=assistant<|channel|>commentary<|message|>{}<|end|>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse.Request{Input: parse.Input{Text: &tt.text, Family: tt.family, FinishReason: "stop"}}.Read()
			if err != nil {
				t.Fatal(err)
			}
			var hidden []string
			for _, span := range got.Hidden {
				hidden = append(hidden, tt.text[span.Start:span.End])
			}
			if diff := cmp.Diff(tt.hidden, hidden); diff != "" || tt.text[got.MadeUp.Start:got.MadeUp.End] != tt.madeUp {
				t.Errorf("made up %v: %s", got.MadeUp, diff)
			}
		})
	}
}
