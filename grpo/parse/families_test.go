package parse_test

import (
	"strings"
	"testing"

	"toolgym/grpo/parse"
)

// native is how one family writes things; the shared rows are made of it.
type native struct {
	family   parse.Family
	one, two string // get_forecast(city Oslo); that, and list_rooms()
	cut      string // one, cut off inside the arguments
	result   string // a tool result that the model makes up
	prose    bool   // prose may stand before the call
}

func natives() []native {
	const city = `{"city": "Oslo"}`
	return []native{
		{parse.Hermes, hermesCall("get_forecast", city), hermesCall("get_forecast", city) + "\n" + hermesCall("list_rooms", "{}"),
			"<tool_call>\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Os", "<tool_response>\n{}\n</tool_response>", true},
		{parse.Qwen3Coder, qwenCall("get_forecast", "<parameter=city>\nOslo\n</parameter>\n"), qwenCall("get_forecast", "<parameter=city>\nOslo\n</parameter>\n") + "\n" + qwenCall("list_rooms", ""),
			"<tool_call>\n<function=get_forecast>\n<parameter=city>\nOs", "<tool_response>\n{}\n</tool_response>", true},
		{parse.Llama3JSON, `{"name": "get_forecast", "parameters": ` + city + `}`, `<|python_tag|>{"name": "get_forecast", "parameters": ` + city + `}; {"name": "list_rooms", "parameters": {}}`,
			`{"name": "get_forecast", "parameters": {"city": "Os`, "<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n{}", false},
		{parse.Pythonic, `[get_forecast(city="Oslo")]`, `[get_forecast(city="Oslo"), list_rooms()]`, `[get_forecast(city="Os`, "<tool_response>{}", false},
		{parse.Llama4, `[get_forecast(city='Oslo')]`, `<|python_start|>[get_forecast(city="Oslo"), list_rooms()]<|python_end|>`, `[get_forecast(city="Os`, "<|header_start|>ipython<|header_end|>\n\n{}", false},
		{parse.LFM2, `<|tool_call_start|>[get_forecast(city="Oslo")]<|tool_call_end|>`, `<|tool_call_start|>[get_forecast(city="Oslo"), list_rooms()]<|tool_call_end|>`,
			`<|tool_call_start|>[get_forecast(city="Os`, "<|im_end|>\n<|im_start|>tool\n{}", true},
		{parse.Olmo3, "<function_calls>\nget_forecast(city=\"Oslo\")\n</function_calls>", "<function_calls>\nget_forecast(city=\"Oslo\")\nlist_rooms()\n</function_calls>",
			"<function_calls>\nget_forecast(city=\"Os", "<tool_result>{}", true},
		{parse.Mistral, `[TOOL_CALLS][{"name": "get_forecast", "arguments": ` + city + `}]`, `[TOOL_CALLS]get_forecast[ARGS]` + city + `[TOOL_CALLS]list_rooms[ARGS]{}`,
			`[TOOL_CALLS][{"name": "get_forecast", "arguments": {"city": "Os`, "[TOOL_RESULTS]{}[/TOOL_RESULTS]", true},
		{parse.Granite, `<|tool_call|>[{"name": "get_forecast", "arguments": ` + city + `}]`, hermesCall("get_forecast", city) + "\n" + hermesCall("list_rooms", "{}"),
			`<|tool_call|>[{"name": "get_forecast", "arguments": {"city": "Os`, "<|start_of_role|>tool_response<|end_of_role|>{}", true},
		{parse.Phi4Mini, `functools[{"name": "get_forecast", "arguments": ` + city + `}]`, `functools[{"name": "get_forecast", "arguments": ` + city + `}, {"name": "list_rooms", "arguments": {}}]`,
			`functools[{"name": "get_forecast", "arguments": {"city": "Os`, "<|tool|>{}", true},
		{parse.Functionary, ">>>get_forecast\n" + city, "get_forecast\n" + city + ">>>list_rooms\n{}", ">>>get_forecast\n{\"city\": \"Os", "<|tool|>{}", false},
		{parse.Command, `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_forecast", "parameters": ` + city + `}]<|END_ACTION|>`,
			`<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_forecast", "parameters": ` + city + `}, {"tool_call_id": "1", "tool_name": "list_rooms", "parameters": {}}]<|END_ACTION|>`,
			`<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_forecast", "parameters": {"city": "Os`, "<|START_TOOL_RESULT|>[]<|END_TOOL_RESULT|>", true},
		{parse.GLM45, "<tool_call>get_forecast\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>",
			"<tool_call>get_forecast<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call>\n<tool_call>list_rooms\n</tool_call>",
			"<tool_call>get_forecast\n<arg_key>city</arg_key>\n<arg_value>Os", "<|observation|>\n{}", true},
		{parse.GLM40414, "get_forecast\n" + city, "get_forecast\n" + city + "<|assistant|>list_rooms\n{}", "get_forecast\n{\"city\": \"Os", "<|observation|>\n{}", false},
		{parse.DeepSeekR1, deepSeekR1("get_forecast", city), deepSeekR1("get_forecast", city, "list_rooms", "{}"), "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_forecast\n```json\n{\"city\": \"Os", "<｜tool▁outputs▁begin｜>{}", true},
		{parse.DeepSeekV31, deepSeekV31("get_forecast", city), deepSeekV31("get_forecast", city, "list_rooms", "{}"), "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_forecast<｜tool▁sep｜>{\"city\": \"Os", "<｜tool▁outputs▁begin｜>{}", true},
		{parse.DeepSeekV32, dsml("tool_calls", dsmlInvoke("get_forecast", `city" string="true`, "Oslo")), dsml("function_calls", dsmlInvoke("get_forecast", `city" string="true`, "Oslo")+dsmlInvoke("list_rooms", "", "")),
			"<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"get_forecast\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Os", "<function_results>{}", true},
		{parse.KimiK2, kimi("get_forecast", city), kimi("get_forecast", city, "list_rooms", "{}"), `<|tool_calls_section_begin|><|tool_call_begin|>functions.get_forecast:0<|tool_call_argument_begin|>{"city": "Os`, "<|im_system|>tool<|im_middle|>{}", true},
		{parse.Gemma4, `<|tool_call>call:get_forecast{city:<|"|>Oslo<|"|>}<tool_call|>`, `<|tool_call>call:get_forecast{city:<|"|>Oslo<|"|>}<tool_call|><|tool_call>call:list_rooms{}<tool_call|>`,
			`<|tool_call>call:get_forecast{city:<|"|>Os`, "<|tool_response>response:f{}", true},
		{parse.FunctionGemma, `<start_function_call>call:get_forecast{city:<escape>Oslo<escape>}<end_function_call>`,
			`<start_function_call>call:get_forecast{city:<escape>Oslo<escape>}<end_function_call><start_function_call>call:list_rooms{}<end_function_call>`,
			`<start_function_call>call:get_forecast{city:<escape>Os`, "<start_function_response>response:f{}", true},
	}
}

func TestEveryFamily(t *testing.T) {
	const forecast = `get_forecast{"city":"Oslo"}`
	for _, n := range natives() {
		compact := func(want string) string { return strings.ReplaceAll(want, "F", forecast) }
		rows := []row{
			{"native", n.one, compact("strict: F")},
			{"parallel", n.two, compact("strict: F list_rooms{}")},
			{"end of turn", n.one + "<|im_end|>\n", compact("strict: F")},
			{"reasoning before", "<think>\nI could call " + n.one + "\n</think>\n\n" + n.one, compact("strict: F")},
			{"reasoning opened by the prompt", "Hm, " + n.one + " it is.</think>" + n.one, compact("strict: F")},
			{"call in reasoning only", "<think>" + n.one + "</think>\nI cannot do that.", "answer: [call_in_reasoning]"},
			{"reasoning that never ends", "<think>" + n.one, "none: [call_in_reasoning reasoning_unclosed]"},
			{"cut off (cut)", n.cut, "none: [truncated]"},
			{"made-up result", n.one + "\n" + n.result + "\n" + n.one, compact("envelope: F [fabricated_tool_result]")},
			{"foreign envelope", "<tools>\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\"}}\n</tools>", compact("envelope: F [wrong_wrapper]")},
			{"foreign envelope, undeclared", "<tools>{\"name\": \"fly\", \"arguments\": {}}</tools>", "none: [unknown_envelope]"},
			{"answer", "It will rain in Oslo; see [the map](x) or f(x) = {y}.", "answer:"},
			{"empty", "", "answer:"},
		}
		if n.prose {
			rows = append(rows, row{"prose before", "Let me look.\n\n" + n.one, compact("strict: F")})
			rows = append(rows, row{"second call cut off (cut)", n.one + "\n" + n.cut, compact("envelope: F [truncated]")})
		}
		readRows(t, n.family, rows)
	}
}

// TestAutoFindsTheFamily reads every family's native form as auto. Those that
// look alike are read as the first of them.
func TestAutoFindsTheFamily(t *testing.T) {
	alike := map[parse.Family]parse.Family{parse.Llama4: parse.Pythonic}
	reader := parse.NewReader(declaredTools(t))
	for _, n := range natives() {
		t.Run(string(n.family), func(t *testing.T) {
			got, err := reader.Read(parse.Input{Text: &n.one})
			if err != nil {
				t.Fatal(err)
			}
			want := n.family
			if other, ok := alike[want]; ok {
				want = other
			}
			if got.Family != want || summary(got) != `strict: get_forecast{"city":"Oslo"}` {
				t.Errorf("%s read as %s, %s", n.family, got.Family, summary(got))
			}
		})
	}
}

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
