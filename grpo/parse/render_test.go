package parse_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toolgym/grpo/parse"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// drawCalls draws one to four calls of the declared tools, with texts that no
// form makes easy.
func drawCalls(t *rapid.T) []tools.Call {
	text := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[ \n"'\\{}\[\]<>|/a-c]{0,12}`),
		rapid.SampledFrom([]string{"</tool_call>", "<think>", "</think>", "<tool_response>", "```", "null", "True", "5", `<|"|>`, "<escape>", "<|call|>", ">>>f\n{}", "; {", "\r", "é🍸"}),
	)
	number := rapid.SampledFrom([]string{"0", "-1.5", "1e3", "9007199254740993", "120.0"})
	integer := rapid.SampledFrom([]string{"1", "2", "10"})
	quote := func(s string) json.RawMessage { return strictjson.AppendString(nil, s) }
	call := rapid.Custom(func(t *rapid.T) tools.Call {
		name := rapid.SampledFrom([]string{"get_forecast", "list_rooms", "set_thermostat", "save_note", "book_room"}).Draw(t, "name")
		members := map[string]json.RawMessage{}
		switch name {
		case "get_forecast":
			members["city"] = quote(text.Draw(t, "city"))
			members["days"] = json.RawMessage(integer.Draw(t, "days"))
		case "set_thermostat":
			members["zone"], members["target"] = quote(text.Draw(t, "zone")), json.RawMessage(number.Draw(t, "target"))
			members["eco"] = json.RawMessage(rapid.SampledFrom([]string{"true", "false"}).Draw(t, "eco"))
		case "save_note":
			members["title"], members["body"] = quote(text.Draw(t, "title")), quote(text.Draw(t, "body"))
			members["tags"] = strictjson.Append(nil, []any{text.Draw(t, "tag"), text.Draw(t, "tag")})
		case "book_room":
			members["room_id"], members["start"] = json.RawMessage("7"), quote(text.Draw(t, "start"))
			members["options"] = strictjson.Append(nil, map[string]any{"layout": text.Draw(t, "layout"), "projector": true, "n": nil})
		}
		arguments, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		return tools.Call{Name: name, Arguments: arguments}
	})
	return rapid.SliceOfN(call, 1, 4).Draw(t, "calls")
}

func TestReadingIsTheInverseOfRendering(t *testing.T) {
	reader := parse.NewReader(declaredTools(t))
	for _, family := range parse.Families() {
		if family == parse.Auto || family == parse.Structured {
			continue
		}
		t.Run(string(family), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				calls := drawCalls(t)
				text, err := parse.Render(family, calls)
				if err != nil {
					t.Skip(err)
				}
				got, err := reader.Read(parse.Input{Text: &text, Family: family})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(calls, got.Calls, cmp.Comparer(equalCalls)); diff != "" || got.Tier != parse.Strict || got.Content != "" {
					t.Fatalf("%s\nread as %s, content %q: %s", text, summary(got), got.Content, diff)
				}
			})
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	call := func(name, arguments string) []tools.Call {
		return []tools.Call{{Name: name, Arguments: json.RawMessage(arguments)}}
	}
	tests := []struct {
		name   string
		family parse.Family
		calls  []tools.Call
	}{
		{"family without a text form", parse.Structured, call("f", "{}")},
		{"unknown family", "latin", call("f", "{}")},
		{"arguments are no object", parse.Hermes, call("f", "[]")},
		{"text behind the arguments", parse.Hermes, call("f", "{} x")},
		{"no name", parse.Hermes, call("", "{}")},
		{"name with a bracket", parse.Qwen3Coder, call("f>", "{}")},
		{"name with a token", parse.Hermes, call("f<|x|>", "{}")},
		{"closer in a raw value", parse.Qwen3Coder, call("f", `{"a": "</parameter>"}`)},
		{"closer in a value", parse.GLM45, call("f", `{"a": "</arg_value>"}`)},
		{"quote token in a text", parse.Gemma4, call("f", `{"a": "<|\"|>"}`)},
		{"key that is no word", parse.Pythonic, call("f", `{"a b": 1}`)},
		{"key with a quote", parse.DeepSeekV32, call("f", `{"a\"": 1}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := parse.Render(tt.family, tt.calls)
			var caller *tools.Error
			if !errors.As(err, &caller) || caller.Code != tools.Invalid {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	if text, err := parse.Render(parse.Hermes, nil); text != "" || err != nil {
		t.Errorf("no calls: %q, %v", text, err)
	}
}
