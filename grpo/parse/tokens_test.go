package parse_test

import (
	"strings"
	"testing"

	"toolgym/grpo/parse"
)

// Families of special tokens around JSON.

func TestDeepSeek(t *testing.T) {
	city := `{"city": "Oslo"}`
	readRows(t, parse.DeepSeekR1, []row{
		{"fence inside a string", deepSeekR1("get_forecast", "{\"city\": \"```\"}"), "strict: get_forecast{\"city\":\"```\"}"},
		{"no fence", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_forecast\n" + city + "<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "envelope: " + forecast + " [missing_fence]"},
		{"no outer opener", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_forecast\n```json\n" + city + "\n```<｜tool▁call▁end｜>", "envelope: " + forecast + " [missing_open_tag]"},
		{"no outer closer", strings.TrimSuffix(deepSeekR1("get_forecast", city), "<｜tool▁calls▁end｜>"), "envelope: " + forecast + " [missing_close_tag]"},
		{"underscores", strings.NewReplacer("▁", "_", "｜", "|").Replace(deepSeekR1("get_forecast", city)), "envelope: " + forecast + " [token_lookalike]"},
		{"the later form", deepSeekV31("get_forecast", city), "envelope: " + forecast + " [wrong_wrapper]"},
		{"cut before the name (cut)", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>func", "none: [truncated]"},
		{"broken arguments", deepSeekR1("get_forecast", `{"city": }`), "none: [unbalanced_braces]"},
	})
	readRows(t, parse.DeepSeekV31, []row{
		{"the earlier form", deepSeekR1("get_forecast", city), "envelope: " + forecast + " [wrong_wrapper]"},
		{"blanks around the name", deepSeekV31(" get_forecast\n", city), "strict: " + forecast},
		{"call closer missing", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_forecast<｜tool▁sep｜>" + city + "<｜tool▁calls▁end｜>", "envelope: " + forecast + " [missing_close_tag]"},
		{"one broken, one kept", deepSeekV31("get_forecast", `{"city": NaN}`, "list_rooms", "{}"), "envelope: list_rooms{} [non_finite_number]"},
	})
}

func TestKimiK2(t *testing.T) {
	call := func(id string) string {
		return "<|tool_calls_section_begin|><|tool_call_begin|>" + id + "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
	}
	readRows(t, parse.KimiK2, []row{
		{"index of two digits", call("functions.list_rooms:12"), "strict: list_rooms{}"},
		{"name with a point", call("functions.a.list_rooms:0"), "strict: a.list_rooms{} [unknown_tool]"},
		{"no prefix", call("list_rooms:0"), "envelope: list_rooms{} [malformed_id]"},
		{"no index", call("functions.list_rooms"), "envelope: list_rooms{} [malformed_id]"},
		{"no section", "<|tool_call_begin|>functions.list_rooms:0<|tool_call_argument_begin|>{}<|tool_call_end|>", "envelope: list_rooms{} [missing_open_tag]"},
		{"section not closed", "<|tool_calls_section_begin|><|tool_call_begin|>functions.list_rooms:0<|tool_call_argument_begin|>{}<|tool_call_end|>", "envelope: list_rooms{} [missing_close_tag]"},
		{"section in the singular", "<|tool_call_section_begin|><|tool_call_begin|>functions.list_rooms:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_section_end|>", "envelope: list_rooms{} [token_lookalike]"},
		{"cut in the identifier (cut)", "<|tool_calls_section_begin|><|tool_call_begin|>functions.li", "none: [truncated]"},
		{"cut behind the section (cut)", "<|tool_calls_section_begin|>", "none: [truncated]"},
	})
}

func TestMistralGraniteAndOthers(t *testing.T) {
	object := `{"name": "get_forecast", "arguments": {"city": "Oslo"}}`
	readRows(t, parse.Mistral, []row{
		{"identifier key", `[TOOL_CALLS][{"name": "list_rooms", "arguments": {}, "id": "abcdefghi"}]`, "strict: list_rooms{}"},
		{"identifier token", `[TOOL_CALLS]list_rooms[CALL_ID]abc[ARGS]{}`, "strict: list_rooms{}"},
		{"no arguments token", `[TOOL_CALLS]list_rooms{}`, "envelope: list_rooms{} [wrong_separator]"},
		{"no list", `[TOOL_CALLS]` + object, "envelope: " + forecast + " [missing_array]"},
		{"list not closed", `[TOOL_CALLS][` + object, "envelope: " + forecast + " [missing_bracket]"},
		{"list cut off (cut)", `[TOOL_CALLS][` + object + `, {"na`, "envelope: " + forecast + " [truncated]"},
		{"no token", `[` + object + `]`, "envelope: " + forecast + " [missing_wrapper]"},
		{"name cut off (cut)", `[TOOL_CALLS]get_fo`, "none: [truncated]"},
		{"broken named object", `[TOOL_CALLS]get_forecast[ARGS]{"city": "Oslo"`, "none: [unbalanced_braces]"},
		{"text behind", `[TOOL_CALLS][` + object + `] Done.`, "envelope: " + forecast + " [trailing_text]"},
		{"hermes tag", hermesOslo, "envelope: " + forecast + " [wrong_wrapper]"},
	})
	readRows(t, parse.Granite, []row{
		{"list in the tag", "<tool_call>[" + object + "]</tool_call>", "strict: " + forecast},
		{"list behind the tag", "<tool_call>[" + object + "]", "strict: " + forecast},
		{"object behind the token", "<|tool_call|>" + object, "envelope: " + forecast + " [missing_array]"},
	})
	readRows(t, parse.Phi4Mini, []row{
		{"spaced list", "functools [" + object + "]", "answer:"},
		{"word in prose", "The functools[0] of Python.", "answer:"},
		{"list with stray brace", `functools[{"name": "list_rooms", "arguments": {}}}]`, "syntax: list_rooms{} [stray_closer]"},
		{"semicolons", "functools[" + object + "; " + object + "]", "envelope: " + forecast + " " + forecast + " [wrong_separator]"},
	})
	readRows(t, parse.Command, []row{
		{"foreign keys", "<|START_ACTION|>[" + object + "]<|END_ACTION|>", "envelope: " + forecast + " [wrong_wrapper]"},
		{"no list", `<|START_ACTION|>{"tool_name": "list_rooms", "parameters": {}}<|END_ACTION|>`, "envelope: list_rooms{} [missing_array]"},
		{"plan before", "<|START_THINKING|>I look.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", \"tool_name\": \"list_rooms\", \"parameters\": {}}\n]<|END_ACTION|>", "strict: list_rooms{}"},
	})
}

func TestLlama(t *testing.T) {
	object := `{"name": "get_forecast", "parameters": {"city": "Oslo"}}`
	readRows(t, parse.Llama3JSON, []row{
		{"arguments key", `{"name": "get_forecast", "arguments": {"city": "Oslo"}}`, "strict: " + forecast},
		{"type key", `{"type": "function", "name": "get_forecast", "parameters": {"city": "Oslo"}}`, "strict: " + forecast},
		{"semicolon in a string", `<|python_tag|>{"name": "get_forecast", "parameters": {"city": "a;b"}}; ` + object, `strict: get_forecast{"city":"a;b"} ` + forecast},
		{"new line between", object + "\n" + object, "envelope: " + forecast + " " + forecast + " [wrong_separator]"},
		{"prose before", "I look. " + object, "answer:"},
		{"prose before the token", "I look.\n<|python_tag|>" + object, "strict: " + forecast},
		{"list", "[" + object + "]", "envelope: " + forecast + " [array_in_tag]"},
		{"name only", `{"name": "list_rooms"}`, "none: [arguments_missing]"},
		{"name only behind the token", `<|python_tag|>{"name": "list_rooms"}`, "envelope: list_rooms{} [arguments_missing]"},
		{"unknown tool", `{"name": "fly", "parameters": {}}`, "strict: fly{} [unknown_tool]"},
		{"code behind the token", "<|python_tag|>import math", "none: [unknown_envelope]"},
		{"built-in tool", `<|python_tag|>brave_search.call(query="x")`, "none: [unknown_envelope]"},
		{"broken", `{"name": "get_forecast", "parameters": {"city": "Oslo"`, "none: [unbalanced_braces]"},
		{"data", `{"city": "Oslo"}`, "answer:"},
	})
}

func TestFunctionary(t *testing.T) {
	city := `{"city": "Oslo"}`
	readRows(t, parse.Functionary, []row{
		{"prose and call", ">>>all\nI look.\n>>>get_forecast\n" + city, "strict: " + forecast},
		{"prose and call, first marker missing", "all\nI look.\n>>>get_forecast\n" + city, "strict: " + forecast},
		{"only prose", ">>>all\nHello.", "answer:"},
		{"call and prose", ">>>get_forecast\n" + city + "\n>>>all\nDone.", "strict: " + forecast},
		{"text behind the object", ">>>get_forecast\n" + city + " ok", "envelope: " + forecast + " [trailing_text]"},
		{"unknown tool", ">>>fly\n{}", "strict: fly{} [unknown_tool]"},
		{"code", ">>>python\nprint(1)", "none: [unknown_envelope]"},
		{"broken", ">>>get_forecast\n{\"city\": Oslo}", "none: [invalid_json]"},
	})
	readRows(t, parse.GLM40414, []row{
		{"unknown name", "fly\n{}", "answer:"},
		{"prose behind", "list_rooms\n{}\nok", "answer:"},
		{"prose before", "I look.\nlist_rooms\n{}", "answer:"},
		{"broken", "list_rooms\n{\"a\": }", "none: [unbalanced_braces]"},
	})
}
