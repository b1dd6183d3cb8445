package parse_test

import (
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
