package parse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

func TestMessages(t *testing.T) {
	call := func(function string) string {
		return `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "function": ` + function + `}]}`
	}
	quoted := func(text string) string {
		data, _ := json.Marshal(text)
		return string(data)
	}
	tests := []struct {
		name, message string
		family        parse.Family
		finish, want  string
	}{
		{"object arguments", call(`{"name": "get_forecast", "arguments": {"city": "Oslo"}}`), "", "stop", "strict: " + forecast},
		{"string arguments", call(`{"name": "get_forecast", "arguments": "{\"city\": \"Oslo\"}"}`), "", "stop", "strict: " + forecast},
		{"big integer", call(`{"name": "lookup_order", "arguments": {"order_id": 9007199254740993}}`), "", "stop", `strict: lookup_order{"order_id":9007199254740993}`},
		{"empty arguments", call(`{"name": "list_rooms", "arguments": ""}`), "", "stop", "strict: list_rooms{}"},
		{"no arguments", call(`{"name": "list_rooms"}`), "", "stop", "strict: list_rooms{}"},
		{"no arguments, one required", call(`{"name": "get_forecast"}`), "", "stop", "strict: get_forecast{} [missing_required]"},
		{"list for arguments", call(`{"name": "list_rooms", "arguments": []}`), "", "stop", "none: [arguments_not_object]"},
		{"string of no object", call(`{"name": "list_rooms", "arguments": "[]"}`), "", "stop", "none: [arguments_not_object]"},
		{"string in Python's spelling", call(`{"name": "get_forecast", "arguments": "{'city': 'Oslo'}"}`), "", "stop", "syntax: " + forecast + " [python_literal]"},
		{"string with two objects", call(`{"name": "list_rooms", "arguments": "{}{}"}`), "", "stop", "none: [invalid_json]"},
		{"string with a stray brace", call(`{"name": "list_rooms", "arguments": "{}}"}`), "", "stop", "syntax: list_rooms{} [stray_closer]"},
		{"string cut off", call(`{"name": "get_forecast", "arguments": "{\"city\": \"Os"}`), "", "length", "none: [truncated]"},
		{"string not closed", call(`{"name": "get_forecast", "arguments": "{\"city\": \"Oslo\""}`), "", "stop", "none: [unbalanced_braces]"},
		{"no name", call(`{"arguments": {}}`), "", "stop", "none: [missing_name]"},
		{"entry that is no object", `{"tool_calls": [5]}`, "", "stop", "none: [missing_name]"},
		{"namespace", call(`{"name": "functions.list_rooms", "arguments": {}}`), "", "stop", "strict: functions.list_rooms{} [unknown_tool]"},
		{"no calls", `{"role": "assistant", "content": "Hello."}`, "", "stop", "answer:"},
		{"empty list of calls", `{"role": "assistant", "content": "Hello.", "tool_calls": []}`, "", "stop", "answer:"},
		{"null content", `{"role": "assistant", "content": null, "tool_calls": null}`, "", "stop", "answer:"},
		{"call in the content", `{"role": "assistant", "content": ` + quoted(hermesOslo) + `}`, "", "stop", "envelope: " + forecast + " [call_in_content]"},
		{"call in the content, structured", `{"role": "assistant", "content": ` + quoted(hermesOslo) + `}`, parse.Structured, "stop", "envelope: " + forecast + " [call_in_content]"},
		{"call in the content of a declared family", `{"role": "assistant", "content": ` + quoted(hermesOslo) + `}`, parse.Hermes, "stop", "strict: " + forecast},
		{"parts of content", `{"role": "assistant", "content": [{"type": "text", "text": ` + quoted(hermesOslo) + `}]}`, "", "stop", "envelope: " + forecast + " [call_in_content]"},
		{"Ollama's answer", `{"model": "m", "message": ` + call(`{"name": "list_rooms", "arguments": {}}`) + `, "done": true, "done_reason": "stop", "eval_count": 9}`, "", "", "strict: list_rooms{}"},
		{"OpenAI's answer", `{"choices": [{"index": 0, "message": ` + call(`{"name": "list_rooms", "arguments": "{}"}`) + `, "finish_reason": "tool_calls"}], "usage": {"completion_tokens": 9}}`, "", "", "strict: list_rooms{}"},
		{"OpenAI's answer, cut off", `{"choices": [{"message": ` + call(`{"name": "list_rooms", "arguments": "{"}`) + `, "finish_reason": "length"}]}`, "", "", "none: [truncated]"},
		{"lost output, OpenAI", `{"choices": [{"message": {"role": "assistant", "content": null}, "finish_reason": "stop"}], "usage": {"completion_tokens": 40}}`, "", "", "none: [lost_output]"},
		{"empty turn of one token", `{"role": "assistant", "content": "", "eval_count": 1}`, "", "", "answer:"},
		{"only thinking", `{"role": "assistant", "content": "", "thinking": "Hm.", "eval_count": 40}`, "", "", "answer:"},
		{"half a surrogate pair in the arguments", call(`{"name": "get_forecast", "arguments": {"city": "\ud83c"}}`), "", "stop", "syntax: get_forecast{\"city\":\"\uFFFD\"} [lone_surrogate]"},
		{"half a surrogate pair in the content", `{"role": "assistant", "content": "\ud83c"}`, "", "stop", "answer:"},
		{"control token in the name", call(`{"name": "<|channel|>commentary", "arguments": {}}`), "", "stop", "none: [missing_name]"},
	}
	set := declaredTools(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := parse.Input{Message: json.RawMessage(tt.message), Family: tt.family, FinishReason: tt.finish}
			got, err := parse.Request{Input: in, Tools: set}.Read()
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(got); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
			checkInvariants(t, tt.message, got)
		})
	}
}

func TestMessageSpansAndIdentifiers(t *testing.T) {
	text := `{"message": {"tool_calls": [ {"id":"a","function":{"name":"f","arguments":{}}} , {"id":"b","function":{"name":"g"}} ]}}`
	got, err := parse.NewReader(nil).Read(parse.Input{Message: json.RawMessage(text)})
	if err != nil || len(got.Attempts) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	second := got.Attempts[1]
	if quoted := text[second.Span.Start:second.Span.End]; quoted != `{"id":"b","function":{"name":"g"}}` || second.ID != "b" {
		t.Errorf("the second call is %q, id %q", quoted, second.ID)
	}
}

func TestErrorBodies(t *testing.T) {
	tests := []struct{ name, message, want, failure string }{
		{"Ollama quotes a call", `{"error": "error parsing tool call: raw='{\"city\": \"Oslo\"', err=unexpected end of JSON input"}`, "none: [unparsable_call]", ""},
		{"llama.cpp quotes a call", `{"error": {"code": 500, "message": "Failed to parse input at pos 12: <tool_call>{\"name\": \"get_forecast\"", "type": "server_error"}}`, "none: [unparsable_call]", ""},
		{"vLLM quotes arguments", `{"error": {"message": "could not decode {\"name\": \"x\", \"arguments\": }"}}`, "none: [unparsable_call]", ""},
		{"parser without a quote", `{"error": "error parsing tool call"}`, "none:", "serving"},
		{"model not loaded", `{"error": "model \"x\" not found"}`, "none:", "infrastructure"},
		{"braces without a call", `{"error": "invalid character '{' in request {}"}`, "none:", "infrastructure"},
		{"context too small", `{"error": {"message": "This model's maximum context length is 4096 tokens", "type": "invalid_request_error"}}`, "none:", "harness"},
		{"no message", `{"error": {"code": 503}}`, "none:", "infrastructure"},
	}
	set := declaredTools(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse.NewReader(set).Read(parse.Input{Message: json.RawMessage(tt.message)})
			if err != nil {
				t.Fatal(err)
			}
			kind := ""
			if got.Failure != nil {
				kind = got.Failure.Kind
			}
			if summary(got) != tt.want || kind != tt.failure {
				t.Errorf("got %s, failure %q; want %s, %q", summary(got), kind, tt.want, tt.failure)
			}
		})
	}
}

func TestStreams(t *testing.T) {
	delta := func(text string) string { return `{"choices": [{"delta": ` + text + `}]}` }
	call := func(text string) string { return delta(`{"tool_calls": [` + text + `]}`) }
	tests := []struct {
		name   string
		chunks []string
		want   string
	}{
		{"two calls by index", []string{
			call(`{"index": 0, "id": "a", "function": {"name": "get_forecast", "arguments": "{\"ci"}}`), call(`{"index": 1, "id": "b", "function": {"name": "list_rooms", "arguments": "{"}}`),
			call(`{"index": 0, "function": {"arguments": "ty\": \"Oslo\"}"}}`), call(`{"index": 1, "function": {"arguments": "}"}}`)}, "strict: " + forecast + " list_rooms{}"},
		{"a name after complete arguments", []string{
			call(`{"index": 0, "function": {"name": "lookup_order", "arguments": "{\"order_id\":1}"}}`), call(`{"index": 0, "function": {"name": "lookup_order", "arguments": "{\"order_id\":2}"}}`)}, `strict: lookup_order{"order_id":1} lookup_order{"order_id":2}`},
		{"the same identifier and name in every chunk", []string{
			call(`{"index": 0, "id": "a", "function": {"name": "get_forecast", "arguments": "{\"city\":"}}`), call(`{"index": 0, "id": "a", "function": {"name": "get_forecast", "arguments": "\"Oslo\"}"}}`)}, "strict: " + forecast},
		{"another name before any arguments", []string{call(`{"index": 0, "function": {"name": "list_rooms"}}`), call(`{"index": 0, "function": {"name": "get_forecast", "arguments": "{\"city\": \"Oslo\"}"}}`)}, "strict: list_rooms{} " + forecast},
		{"whole calls in one chunk without index", []string{call(`{"function": {"name": "list_rooms", "arguments": {}}}, {"function": {"name": "fly", "arguments": {}}}`)}, "strict: list_rooms{} fly{} [unknown_tool]"},
		{"Ollama's lines", []string{`{"message": {"content": "", "tool_calls": [{"function": {"name": "list_rooms", "arguments": {}}}]}, "done": false}`, `{"message": {"content": ""}, "done": true, "done_reason": "stop", "eval_count": 9}`}, "strict: list_rooms{}"},
		{"cut off", []string{call(`{"index": 0, "id": "a", "function": {"name": "get_forecast", "arguments": "{\"city\":"}}`), `{"choices": [{"delta": {}, "finish_reason": "length"}]}`}, "none: [truncated]"},
		{"content", []string{delta(`{"content": "Hel"}`), delta(`{"content": "lo."}`)}, "answer:"},
		{"call in the content", []string{delta(`{"content": "<tool_call>{\"name\": \"list_rooms\","}`), delta(`{"content": "\"arguments\": {}}</tool_call>"}`)}, "envelope: list_rooms{} [call_in_content]"},
		{"lost output", []string{delta(`{}`), `{"choices": [], "usage": {"completion_tokens": 12}}`}, "none: [lost_output]"},
		{"another choice", []string{call(`{"index": 0, "id": "a", "function": {"name": "list_rooms", "arguments": "{}"}}`), `{"choices": [{"index": 1, "delta": {"content": "x"}}]}`}, "strict: list_rooms{}"},
		{"error in the middle", []string{delta(`{"content": "Hel"}`), `{"error": {"message": "error parsing tool call: raw='{', err=x"}}`}, "none: [unparsable_call]"},
		{"no chunks", []string{}, "answer:"},
	}
	set := declaredTools(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stream := []json.RawMessage{}
			for _, chunk := range tt.chunks {
				stream = append(stream, json.RawMessage(chunk))
			}
			got, err := parse.NewReader(set).Read(parse.Input{Stream: stream})
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(got); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestInputErrors(t *testing.T) {
	text := "x"
	tests := []struct {
		name string
		in   parse.Input
	}{
		{"nothing", parse.Input{}},
		{"text and message", parse.Input{Text: &text, Message: json.RawMessage("{}")}},
		{"unknown family", parse.Input{Text: &text, Family: "latin"}},
		{"message is no JSON", parse.Input{Message: json.RawMessage("{")}},
		{"message is a list", parse.Input{Message: json.RawMessage("[]")}},
		{"message names a key twice", parse.Input{Message: json.RawMessage(`{"content": "a", "content": "b"}`)}},
		{"message and more", parse.Input{Message: json.RawMessage("{} {}")}},
		{"chunk is no object", parse.Input{Stream: []json.RawMessage{json.RawMessage("1")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse.NewReader(nil).Read(tt.in)
			var caller *tools.Error
			if !errors.As(err, &caller) || caller.Code != tools.Invalid || caller.Want == "" {
				t.Errorf("got %v, want a caller's mistake", err)
			}
		})
	}
}

// TestWireShape pins the JSON of POST /v1/parse, in and out.
func TestWireShape(t *testing.T) {
	tests := []struct{ name, request, want string }{
		{"a call that breaks its schema",
			`{"text": "A <tool_call>{\"name\": \"f\", \"arguments\": {\"n\": \"5\"}}</tool_call>", "family": "hermes", "finish_reason": "stop",
			  "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}}]}`,
			`{"family": "hermes", "tier": "strict", "format_ok": true, "schema_valid": false, "calls": [{"name": "f", "arguments": {"n": "5"}}],
			  "attempts": [{"family": "hermes", "tier": "strict", "status": "ok", "defects": ["type_mismatch", "coercible"], "name": "f", "arguments": {"n": "5"},
			    "raw_arguments": "{\"n\": \"5\"}", "span": {"start": 2, "end": 63}, "schema_valid": false,
			    "violations": [{"pointer": "/n", "keyword": "type", "message": "got string, want integer"}], "coercible": true, "unknown_arguments": []}],
			  "content": "A", "reasoning": "", "defects": ["type_mismatch", "coercible"]}`},
		{"a lost attempt",
			`{"text": "<tool_call>{}</tool_call>", "family": "hermes"}`,
			`{"family": "hermes", "tier": "none", "format_ok": false, "schema_valid": null, "calls": [],
			  "attempts": [{"family": "hermes", "tier": "none", "status": "missing_name", "defects": ["missing_name"], "name": "", "arguments": null,
			    "raw_arguments": "", "span": {"start": 0, "end": 25}, "schema_valid": null, "violations": [], "coercible": false, "unknown_arguments": []}],
			  "content": "", "reasoning": "", "defects": ["missing_name"]}`},
		{"an answer", `{"text": "Hello."}`,
			`{"family": "auto", "tier": "answer", "format_ok": true, "schema_valid": null, "calls": [], "attempts": [], "content": "Hello.", "reasoning": "", "defects": []}`},
		{"a failure of the server", `{"message": {"error": "model not found"}}`,
			`{"family": "structured", "tier": "none", "format_ok": false, "schema_valid": null, "calls": [], "attempts": [], "content": "", "reasoning": "", "defects": [],
			  "failure": {"kind": "infrastructure", "reason": "model not found"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			decoder := json.NewDecoder(bytes.NewReader([]byte(tt.request)))
			decoder.DisallowUnknownFields()
			var request parse.Request
			if err := decoder.Decode(&request); err != nil {
				t.Fatal(err)
			}
			reading, err := request.Read()
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(reading)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n%s", data, diff)
			}
		})
	}
}

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
