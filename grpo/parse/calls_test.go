package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"toolgym/grpo/parse"
)

// Families of call expressions, and harmony.

func TestPythonic(t *testing.T) {
	readRows(t, parse.Pythonic, []row{
		{"Python's literals", `[set_thermostat(zone='a', target=19.5, eco=True)]`, `strict: set_thermostat{"zone":"a","target":19.5,"eco":true}`},
		{"JSON's literals", `[set_thermostat(zone="a", target=19, eco=true)]`, `strict: set_thermostat{"zone":"a","target":19,"eco":true}`},
		{"nested values", `[book_room(room_id=1, start="s", options={'projector': False}, guests=[{"name": "Kim"}])]`, `strict: book_room{"room_id":1,"start":"s","options":{"projector":false},"guests":[{"name":"Kim"}]}`},
		{"brackets and quotes in strings", `[save_note(title="a)]", body='b", c=1')]`, `strict: save_note{"title":"a)]","body":"b\", c=1"}`},
		{"spread over lines", "[\n  get_forecast(\n    city=\"Oslo\",\n  ),\n]", "strict: " + forecast},
		{"Python's numbers", `[convert_amount(amount=1_000.5, source="EUR", target="NOK")]`, `strict: convert_amount{"amount":1000.5,"source":"EUR","target":"NOK"}`},
		{"unknown tool", `[fly(x=1)]`, `strict: fly{"x":1} [unknown_tool]`},
		{"name with a point", `[weather.get_forecast(city="Oslo")]`, `strict: weather.get_forecast{"city":"Oslo"} [unknown_tool]`},
		{"last bracket missing", `[get_forecast(city="Oslo"), list_rooms()`, "envelope: " + forecast + " list_rooms{} [missing_bracket]"},
		{"call not closed", `[get_forecast(city="Oslo"`, "none: [unbalanced_braces]"},
		{"second call cut off (cut)", `[get_forecast(city="Oslo"), list_r`, "envelope: " + forecast + " [truncated]"},
		{"positional argument", `[get_forecast("Oslo")]`, "none: [positional_argument]"},
		{"argument twice", `[get_forecast(city="A", city="B")]`, "none: [duplicate_key]"},
		{"expression", `[get_forecast(city="Os" + "lo")]`, "none: [invalid_json]"},
		{"variable", `[get_forecast(city=town)]`, "none: [invalid_json]"},
		{"nan", `[set_thermostat(zone="a", target=nan)]`, "none: [non_finite_number]"},
		{"raw newline", "[save_note(title=\"a\nb\", body=\"c\")]", `syntax: save_note{"title":"a\nb","body":"c"} [raw_control_character]`},
		{"prose behind", `[get_forecast(city="Oslo")] That is all.`, "envelope: " + forecast + " [trailing_text]"},
		{"prose before, unknown tool", `Sure: [fly(x=1)]`, "answer:"},
		{"prose on both sides", `Sure: [list_rooms()] and so on.`, "answer:"},
		{"prose before, on one line", `Sure: [list_rooms()]`, "envelope: list_rooms{} [leading_text]"},
		{"two lists in prose, the last counts", "Not [list_rooms()] but\n[get_forecast(city=\"Oslo\")]", "envelope: " + forecast + " [leading_text]"},
		{"lines without a list", "get_forecast(city=\"Oslo\")\nlist_rooms()", "envelope: " + forecast + " list_rooms{} [missing_wrapper]"},
		{"lfm2's tokens", `<|tool_call_start|>[list_rooms()]<|tool_call_end|>`, "envelope: list_rooms{} [wrong_wrapper]"},
		{"fence", "```python\n[list_rooms()]\n```", "envelope: list_rooms{} [code_fence]"},
		{"list of numbers", "[1, 2]", "answer:"},
		{"link", "[rooms](http://x)", "answer:"},
		{"empty list", "[]", "answer:"},
		{"JSON list", `[{"name": "list_rooms", "arguments": {}}]`, "envelope: list_rooms{} [array_in_tag wrong_wrapper]"},
	})
	readRows(t, parse.LFM2, []row{
		{"prose behind", `<|tool_call_start|>[list_rooms()]<|tool_call_end|>I look.`, "strict: list_rooms{}"},
		{"no closer", `<|tool_call_start|>[list_rooms()]`, "envelope: list_rooms{} [missing_close_tag]"},
		{"no list", `<|tool_call_start|>list_rooms()<|tool_call_end|>`, "envelope: list_rooms{} [missing_array]"},
		{"no tokens", `[list_rooms()]`, "envelope: list_rooms{} [missing_wrapper]"},
		{"object", `<|tool_call_start|>[{"name": "list_rooms", "arguments": {}}]<|tool_call_end|>`, "envelope: list_rooms{} [wrong_wrapper]"},
	})
	readRows(t, parse.Olmo3, []row{
		{"list", "<function_calls>\n[list_rooms()]\n</function_calls>", "envelope: list_rooms{} [array_in_tag]"},
		{"on one line", "<function_calls>list_rooms() fly()</function_calls>", "envelope: list_rooms{} fly{} [unknown_tool wrong_separator]"},
		{"no closer", "<function_calls>\nlist_rooms()\n", "envelope: list_rooms{} [missing_close_tag]"},
		{"broken line", "<function_calls>\nlist_rooms()\nget_forecast(city=)\n</function_calls>", "envelope: list_rooms{} [invalid_json]"},
	})
	readRows(t, parse.Llama4, []row{
		{"object in the tokens", `<|python_start|>{"name": "list_rooms", "parameters": {}}<|python_end|>`, "envelope: list_rooms{} [wrong_wrapper]"},
	})
}

func TestHarmony(t *testing.T) {
	city := `{"city": "Oslo"}`
	call := "<|channel|>commentary to=functions.get_forecast <|constrain|>json<|message|>" + city + "<|call|>"
	readRows(t, parse.Harmony, []row{
		{"native", call, "strict: " + forecast},
		{"recipient in the role part", "<|start|>assistant to=functions.get_forecast<|channel|>commentary <|constrain|>json<|message|>" + city + "<|call|>", "strict: " + forecast},
		{"recipient first", " to=functions.get_forecast<|channel|>commentary json<|message|>" + city + "<|call|>", "strict: " + forecast},
		{"two calls", call + "<|start|>assistant" + call, "strict: " + forecast + " " + forecast},
		{"preamble and call", "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant" + call, "strict: " + forecast},
		{"final", "<|channel|>final<|message|>Hello.<|return|>", "answer:"},
		{"final without end", "<|channel|>final<|message|>Hello.", "answer:"},
		{"commentary to nobody", "<|channel|>commentary<|message|>" + city + "<|end|>", "none: [missing_recipient]"},
		{"commentary and final", "<|channel|>commentary<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>", "answer:"},
		{"analysis never ends", "<|channel|>analysis<|message|>Hm", "answer: [reasoning_unclosed]"},
		{"analysis ends", "<|channel|>analysis<|message|>Hm<|end|>", "answer:"},
		{"call in analysis", "<|channel|>analysis to=functions.get_forecast<|message|>" + city + "<|call|>", "envelope: " + forecast + " [wrong_channel]"},
		{"no prefix", "<|channel|>commentary to=get_forecast<|message|>" + city + "<|call|>", "envelope: " + forecast + " [malformed_id]"},
		{"unknown tool", "<|channel|>commentary to=browser.search<|message|>{}<|call|>", "strict: browser.search{} [unknown_tool]"},
		{"end for call", "<|channel|>commentary to=functions.get_forecast<|message|>" + city + "<|end|>", "envelope: " + forecast + " [missing_close_tag]"},
		{"no call token", "<|channel|>commentary to=functions.get_forecast<|message|>" + city, "envelope: " + forecast + " [missing_close_tag]"},
		{"no arguments", "<|channel|>commentary to=functions.list_rooms<|message|><|call|>", "envelope: list_rooms{} [arguments_missing]"},
		{"text for arguments", "<|channel|>commentary to=functions.get_forecast<|message|>Oslo<|call|>", "none: [invalid_json]"},
		{"header cut (cut)", "<|channel|>commentary to=functions.get_fore", "none: [truncated]"},
		{"made-up result", call + "<|start|>functions.get_forecast to=assistant<|channel|>commentary<|message|>{}<|end|><|start|>assistant" + call, "envelope: " + forecast + " [fabricated_tool_result]"},
		{"tokens stripped", "commentary to=functions.get_forecast json" + city, "envelope: " + forecast + " [special_tokens_stripped]"},
		{"tokens stripped, role glued", "assistantcommentary to=functions.get_forecast json" + city, "envelope: " + forecast + " [special_tokens_stripped]"},
		{"message token stripped", "<|channel|>commentary to=functions.get_forecast <|constrain|>json" + city + "<|call|>", "envelope: " + forecast + " [special_tokens_stripped]"},
		{"tokens stripped, prose behind", "commentary to=functions.get_forecast json" + city + " ok", "none: [unknown_envelope]"},
		{"plain text", "Hello.", "answer:"},
		{"braces missing", "<|channel|>commentary to=functions.get_forecast<|message|>{\"city\": \"Oslo\"<|call|>", "none: [unbalanced_braces]"},
		{"hermes tag", hermesOslo, "envelope: " + forecast + " [wrong_wrapper]"},
	})
	readRows(t, parse.Auto, []row{
		{"harmony", call, "strict: " + forecast},
		{"harmony, tokens stripped", "commentary to=functions.get_forecast json" + city, "envelope: " + forecast + " [special_tokens_stripped]"},
	})
	readRows(t, parse.Hermes, []row{
		{"harmony", call, "none: [unknown_envelope]"},
	})
}

// The native forms that several tests write.

func hermesCall(name, arguments string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, arguments)
}

func qwenCall(name, parameters string) string {
	return fmt.Sprintf("<tool_call>\n<function=%s>\n%s</function>\n</tool_call>", name, parameters)
}

func deepSeekR1(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "<｜tool▁call▁begin｜>function<｜tool▁sep｜>%s\n```json\n%s\n```<｜tool▁call▁end｜>", pairs[i], pairs[i+1])
	}
	return "<｜tool▁calls▁begin｜>" + b.String() + "<｜tool▁calls▁end｜>"
}

func deepSeekV31(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "<｜tool▁call▁begin｜>%s<｜tool▁sep｜>%s<｜tool▁call▁end｜>", pairs[i], pairs[i+1])
	}
	return "<｜tool▁calls▁begin｜>" + b.String() + "<｜tool▁calls▁end｜>"
}

func dsml(block, invokes string) string {
	return "<｜DSML｜" + block + ">\n" + invokes + "</｜DSML｜" + block + ">"
}

// dsmlInvoke writes one block; parameter is the name with the attribute that
// follows it, key" string="true, or empty.
func dsmlInvoke(name, parameter, value string) string {
	inner := ""
	if parameter != "" {
		inner = fmt.Sprintf("<｜DSML｜parameter name=\"%s\">%s</｜DSML｜parameter>\n", parameter, value)
	}
	return fmt.Sprintf("<｜DSML｜invoke name=\"%s\">\n%s</｜DSML｜invoke>\n", name, inner)
}

func kimi(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "<|tool_call_begin|>functions.%s:%d<|tool_call_argument_begin|>%s<|tool_call_end|>", pairs[i], i/2, pairs[i+1])
	}
	return "<|tool_calls_section_begin|>" + b.String() + "<|tool_calls_section_end|>"
}

// Families whose values stand between tags.

func TestQwen3Coder(t *testing.T) {
	city := "<parameter=city>\nOslo\n</parameter>\n"
	readRows(t, parse.Qwen3Coder, []row{
		{"two functions in a tag", "<tool_call>\n<function=get_forecast>\n" + city + "</function>\n<function=list_rooms>\n</function>\n</tool_call>", "envelope: " + forecast + " list_rooms{} [several_in_tag]"},
		{"parameter closed by the function", "<tool_call>\n<function=get_forecast>\n<parameter=city>\nOslo\n</function>\n</tool_call>", "envelope: " + forecast + " [missing_close_tag]"},
		{"parameter closed by the next one", "<tool_call>\n<function=get_forecast>\n<parameter=city>\nOslo\n<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>", `envelope: get_forecast{"city":"Oslo","days":2} [missing_close_tag]`},
		{"tag not closed", "<tool_call>\n<function=get_forecast>\n" + city + "</function>", "envelope: " + forecast + " [missing_close_tag]"},
		{"function not closed, tag closed", "<tool_call>\n<function=get_forecast>\n" + city + "</tool_call>", "none: [missing_close_tag]"},
		{"function not closed, another follows", "<tool_call>\n<function=get_forecast>\n" + city + qwenCall("list_rooms", ""), "envelope: list_rooms{} [missing_close_tag]"},
		{"no opener, undeclared", "<function=fly>\n</function>\n</tool_call>", "none: [missing_open_tag]"},
		{"no tags of the call at all", "<function=get_forecast>\n" + city + "</function>", "envelope: " + forecast + " [missing_close_tag missing_open_tag]"},
		{"opener in prose", "Write <function=name> and then the parameters.", "answer:"},
		{"blank lines between", "<tool_call>\n\n<function=get_forecast>\n\n" + city + "\n</function>\n\n</tool_call>", "strict: " + forecast},
		{"value on one line", qwenCall("get_forecast", "<parameter=city>Oslo</parameter>"), "strict: " + forecast},
		{"carriage returns", qwenCall("get_forecast", "<parameter=city>\r\nOslo\r\n</parameter>\r\n"), "strict: " + forecast},
		{"number with blanks", qwenCall("get_forecast", city+"<parameter=days>\n 2 \n</parameter>\n"), `strict: get_forecast{"city":"Oslo","days":2}`},
		{"number with a point", qwenCall("lookup_order", "<parameter=order_id>\n120.0\n</parameter>\n"), `strict: lookup_order{"order_id":120.0}`},
		{"infinity stays text", qwenCall("set_thermostat", "<parameter=zone>\na\n</parameter>\n<parameter=target>\nInfinity\n</parameter>\n"), `strict: set_thermostat{"zone":"a","target":"Infinity"} [type_mismatch]`},
		{"word for a boolean", qwenCall("set_thermostat", "<parameter=zone>\na\n</parameter>\n<parameter=target>\n1\n</parameter>\n<parameter=eco>\nyes\n</parameter>\n"), `strict: set_thermostat{"zone":"a","target":1,"eco":"yes"} [type_mismatch]`},
		{"number-like string stays text", qwenCall("save_note", "<parameter=title>\n5\n</parameter>\n<parameter=body>\ntrue\n</parameter>\n"), `strict: save_note{"title":"5","body":"true"}`},
		{"JSON list", qwenCall("save_note", "<parameter=title>\nt\n</parameter>\n<parameter=body>\nb\n</parameter>\n<parameter=tags>\n[\"x\", \"y\"]\n</parameter>\n"), `strict: save_note{"title":"t","body":"b","tags":["x","y"]}`},
		{"Python's dictionary", qwenCall("book_room", "<parameter=room_id>\n1\n</parameter>\n<parameter=start>\ns\n</parameter>\n<parameter=options>\n{'projector': True}\n</parameter>\n"), `syntax: book_room{"room_id":1,"start":"s","options":{"projector":true}} [python_literal]`},
		{"broken list stays text", qwenCall("save_note", "<parameter=title>\nt\n</parameter>\n<parameter=body>\nb\n</parameter>\n<parameter=tags>\n[x, y\n</parameter>\n"), `strict: save_note{"title":"t","body":"b","tags":"[x, y"} [type_mismatch]`},
		{"null where it is admitted", qwenCall("search_docs", "<parameter=query>\nnull\n</parameter>\n<parameter=limit>\nnull\n</parameter>\n"), `strict: search_docs{"query":"null","limit":null}`},
		{"parameter twice", qwenCall("get_forecast", city+city), "none: [duplicate_key]"},
		{"unknown parameter", qwenCall("tag_item", "<parameter=item>\nx\n</parameter>\n<parameter=tag>\ny\n</parameter>\n<parameter=n>\n5\n</parameter>\n"), `strict: tag_item{"item":"x","tag":"y","n":"5"} [unknown_argument]`},
		{"closer quoted in a value", qwenCall("write_file", "<parameter=path>\nx\n</parameter>\n<parameter=content>\na </function> b\n</parameter>\n"), `strict: write_file{"path":"x","content":"a </function> b"}`},
		{"no name", "<tool_call>\n<function=>\n</function>\n</tool_call>", "none: [missing_name]"},
		{"object in the function", "<tool_call>\n<function=get_forecast>\n{\"city\": \"Oslo\"}\n</function>\n</tool_call>", "none: [unknown_envelope]"},
		{"hermes object", hermesOslo, "envelope: " + forecast + " [wrong_wrapper]"},
		{"invalid UTF-8", qwenCall("get_forecast", "<parameter=city>\n\xff\n</parameter>\n"), "none: [invalid_utf8]"},
		{"cut in a closer (cut)", "<tool_call>\n<function=get_forecast>\n" + city + "</func", "none: [truncated]"},
		{"cut in the name (cut)", "<tool_call>\n<function=get_fore", "none: [truncated]"},
	})
}

func TestGLM45(t *testing.T) {
	readRows(t, parse.GLM45, []row{
		{"blanks around the name", "<tool_call> get_forecast \n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>", "strict: " + forecast},
		{"text keeps its blanks", "<tool_call>get_forecast\n<arg_key>city</arg_key>\n<arg_value> Oslo\n</arg_value>\n</tool_call>", `strict: get_forecast{"city":" Oslo\n"}`},
		{"no opener", "I look.\nget_forecast\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>", "envelope: " + forecast + " [missing_open_tag]"},
		{"value closed by the block", "<tool_call>get_forecast\n<arg_key>city</arg_key>\n<arg_value>Oslo</tool_call>", "envelope: " + forecast + " [missing_close_tag]"},
		{"never closed", "<tool_call>get_forecast\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n", "none: [missing_close_tag]"},
		{"no arguments", "<tool_call>list_rooms</tool_call>", "strict: list_rooms{}"},
		{"no arguments, cut (cut)", "<tool_call>list_rooms\n", "none: [truncated]"},
		{"key twice", "<tool_call>get_forecast\n<arg_key>city</arg_key>\n<arg_value>A</arg_value>\n<arg_key>city</arg_key>\n<arg_value>B</arg_value>\n</tool_call>", "none: [duplicate_key]"},
		{"unknown tool", "<tool_call>fly\n</tool_call>", "strict: fly{} [unknown_tool]"},
		{"list", "<tool_call>save_note\n<arg_key>title</arg_key>\n<arg_value>t</arg_value>\n<arg_key>body</arg_key>\n<arg_value>b</arg_value>\n<arg_key>tags</arg_key>\n<arg_value>[\"x\"]</arg_value>\n</tool_call>", `strict: save_note{"title":"t","body":"b","tags":["x"]}`},
		{"tag in prose", "Use <tool_call> and </tool_call> for that.", "answer:"},
	})
}

func TestDSML(t *testing.T) {
	days := func(value string) string {
		return dsml("tool_calls", dsmlInvoke("lookup_order", `order_id" string="false`, value))
	}
	readRows(t, parse.DeepSeekV32, []row{
		{"JSON value", days("3"), `strict: lookup_order{"order_id":3}`},
		{"text that looks like a number", dsml("tool_calls", dsmlInvoke("lookup_order", `order_id" string="true`, "3")), `strict: lookup_order{"order_id":"3"} [coercible type_mismatch]`},
		{"no JSON stays text", days("three"), `strict: lookup_order{"order_id":"three"} [type_mismatch]`},
		{"closer inside a JSON string", days(`"</｜DSML｜parameter>"`), `strict: lookup_order{"order_id":"</｜DSML｜parameter>"} [type_mismatch]`},
		{"ASCII bars", "<|DSML|tool_calls>\n<|DSML|invoke name=\"list_rooms\">\n</|DSML|invoke>\n</|DSML|tool_calls>", "envelope: list_rooms{} [token_lookalike]"},
		{"outer closer missing", "<｜DSML｜tool_calls>\n" + dsmlInvoke("list_rooms", "", ""), "envelope: list_rooms{} [missing_close_tag]"},
		{"orphan of an unknown tool", dsmlInvoke("fly", "", ""), "none: [missing_open_tag]"},
		{"block never closed", "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"get_forecast\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Oslo</｜DSML｜parameter>\n", "none: [missing_close_tag]"},
		{"value closed by the block", "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"get_forecast\">\n<｜DSML｜parameter name=\"city\" string=\"true\">Oslo</｜DSML｜invoke>\n</｜DSML｜tool_calls>", "envelope: " + forecast + " [missing_close_tag]"},
		{"no type", dsml("tool_calls", dsmlInvoke("get_forecast", "city", "Oslo")), "envelope: " + forecast + " [missing_type_declaration]"},
		{"no name", "<｜DSML｜tool_calls>\n<｜DSML｜invoke>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>", "none: [missing_name]"},
	})
}

func TestGemma(t *testing.T) {
	call := func(body string) string { return "<|tool_call>call:" + body + "<tool_call|>" }
	readRows(t, parse.Gemma4, []row{
		{"all kinds of values", call(`book_room{room_id:1,start:<|"|>s<|"|>,memo:null,options:{projector:false},guests:[]}`), `strict: book_room{"room_id":1,"start":"s","memo":null,"options":{"projector":false},"guests":[]}`},
		{"text without escapes", call(`get_forecast{city:<|"|>a "b" \n {c}<|"|>}`), `strict: get_forecast{"city":"a \"b\" \\n {c}"}`},
		{"JSON's quotes", call(`get_forecast{city:"Oslo"}`), "envelope: " + forecast + " [token_lookalike]"},
		{"bare word", call(`get_forecast{city:Oslo}`), "none: [invalid_json]"},
		{"trailing comma", call(`get_forecast{city:<|"|>Oslo<|"|>,}`), "syntax: " + forecast + " [trailing_comma]"},
		{"key twice", call(`get_forecast{city:<|"|>A<|"|>,city:<|"|>B<|"|>}`), "none: [duplicate_key]"},
		{"brace missing", call(`get_forecast{city:<|"|>Oslo<|"|>`), "none: [unbalanced_braces]"},
		{"closer missing", `<|tool_call>call:get_forecast{city:<|"|>Oslo<|"|>}`, "envelope: " + forecast + " [missing_close_tag]"},
		{"no name", call(`{city:<|"|>Oslo<|"|>}`), "none: [missing_name]"},
		{"NaN", call(`set_thermostat{zone:<|"|>a<|"|>,target:NaN}`), "none: [non_finite_number]"},
		{"stop token", call(`list_rooms{}`) + "<|tool_response>", "strict: list_rooms{}"},
		{"cut in the name (cut)", "<|tool_call>call:get_fo", "none: [truncated]"},
		{"no call", "<|tool_call>get_forecast<tool_call|>", "none: [unknown_envelope]"},
	})
	readRows(t, parse.FunctionGemma, []row{
		{"cut in the text (cut)", "<start_function_call>call:get_forecast{city:<escape>Os", "none: [truncated]"},
		{"text never ends", "<start_function_call>call:get_forecast{city:<escape>Oslo}<end_function_call>", "none: [unterminated_string]"},
	})
}
