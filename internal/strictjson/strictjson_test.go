package strictjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"toolgym/internal/strictjson"
)

type object = map[string]any

func TestDecode(t *testing.T) {
	tests := []struct {
		name, text string
		want       any
	}{
		{"null", " null\n", nil},
		{"booleans", "[true,false]", []any{true, false}},
		{"exact integer beyond 2^53", "9007199254740993", json.Number("9007199254740993")},
		{"number keeps its spelling", "[120.0, 1e3, -0, 1E-5]", []any{json.Number("120.0"), json.Number("1e3"), json.Number("-0"), json.Number("1E-5")}},
		{"escapes", `"\"\\\/\b\f\n\r\t\u00e9"`, "\"\\/\b\f\n\r\té"},
		{"surrogate pair", `"\ud83c\udf78 x"`, "🍸 x"},
		{"empty containers", `{"a":[],"b":{},"":""}`, object{"a": []any{}, "b": object{}, "": ""}},
		{"nested", `{"a":{"b":[1,{"c":null}]}}`, object{"a": object{"b": []any{json.Number("1"), object{"c": nil}}}}},
		{"huge exponent, kept as text", "1e999999999", json.Number("1e999999999")},
		{"nine keys", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`, object{"a": json.Number("1"), "b": json.Number("1"), "c": json.Number("1"), "d": json.Number("1"), "e": json.Number("1"), "f": json.Number("1"), "g": json.Number("1"), "h": json.Number("1"), "i": json.Number("1")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := strictjson.Decode([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		kind       strictjson.Kind
		offset     int
	}{
		{"empty", "", strictjson.UnexpectedEnd, 0},
		{"blank", "  ", strictjson.UnexpectedEnd, 2},
		{"trailing data", "{} x", strictjson.TrailingData, 3},
		{"two values", "1 2", strictjson.TrailingData, 2},
		{"duplicate key", `{"a":1,"a":2}`, strictjson.DuplicateKey, 7},
		{"duplicate key spelt differently", `{"a":1,"\u0061":2}`, strictjson.DuplicateKey, 7},
		{"duplicate key, nested", `[{"b":{"a":1,"a":1}}]`, strictjson.DuplicateKey, 13},
		{"NaN", `{"a": NaN}`, strictjson.NonFinite, 6},
		{"minus infinity", `[-Infinity]`, strictjson.NonFinite, 1},
		{"lone high surrogate", `"\ud83c x"`, strictjson.LoneSurrogate, 1},
		{"lone low surrogate", `"\udf78"`, strictjson.LoneSurrogate, 1},
		{"two high surrogates", `"\ud83c\ud83c"`, strictjson.LoneSurrogate, 1},
		{"invalid UTF-8", "\"a\xffb\"", strictjson.InvalidUTF8, 2},
		{"invalid UTF-8 after an escape", "\"\\n\xff\"", strictjson.InvalidUTF8, 3},
		{"raw newline", "\"a\nb\"", strictjson.ControlCharacter, 2},
		{"bad escape", `"\d"`, strictjson.BadEscape, 1},
		{"short unicode escape", `"\u12g4"`, strictjson.BadEscape, 1},
		{"leading zero", "01", strictjson.BadNumber, 0},
		{"no digit after the point", "[1.]", strictjson.BadNumber, 1},
		{"plus sign", "+1", strictjson.Unexpected, 0},
		{"trailing comma in a list", "[1,]", strictjson.TrailingComma, 2},
		{"trailing comma in an object", `{"a":1,}`, strictjson.TrailingComma, 6},
		{"lone comma", "[,]", strictjson.Unexpected, 1},
		{"single quotes", "{'a':1}", strictjson.PythonLiteral, 1},
		{"True", "[True]", strictjson.PythonLiteral, 1},
		{"unknown word", "[yes]", strictjson.Unexpected, 1},
		{"bare key", "{a:1}", strictjson.Unexpected, 1},
		{"unescaped quote", `{"a":"He said "yes" twice"}`, strictjson.UnescapedQuote, 15},
		{"cut in a string", `{"a":"b`, strictjson.Unterminated, 7},
		{"cut in an object", `{"a":1`, strictjson.UnexpectedEnd, 6},
		{"cut in an escape", `"\u12`, strictjson.Unterminated, 5},
		{"cut in a word", "[tru", strictjson.UnexpectedEnd, 4},
		{"cut in a number", "[1.", strictjson.UnexpectedEnd, 3},
		{"brace missing before a tag", "{\"a\":{\"b\":1}\n</x>", strictjson.Unexpected, 13},
		{"too deep", strings.Repeat("[", 129), strictjson.TooDeep, 128},
		{"exponent out of bounds", "1e9999999999", strictjson.TooLarge, 0},
		{"exponent beyond int", "1e99999999999999999999", strictjson.TooLarge, 0},
		{"number too long", strings.Repeat("1", 5000), strictjson.TooLarge, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := strictjson.Decode([]byte(tt.text))
			var failure *strictjson.Error
			if !errors.As(err, &failure) {
				t.Fatalf("got %v, %v, want an error", got, err)
			}
			if failure.Kind != tt.kind || failure.Offset != tt.offset || failure.Message == "" {
				t.Errorf("got %s at %d (%s), want %s at %d", failure.Kind, failure.Offset, failure.Message, tt.kind, tt.offset)
			}
		})
	}
}

func TestDepthIsInclusive(t *testing.T) {
	text := strings.Repeat("[", 128) + strings.Repeat("]", 128)
	if _, err := strictjson.Decode([]byte(text)); err != nil {
		t.Error(err)
	}
}

func TestLimitsAreSettable(t *testing.T) {
	base := strictjson.Defaults()
	tests := []struct {
		name, text string
		change     func(*strictjson.Limits)
	}{
		{"depth", "[[1]]", func(l *strictjson.Limits) { l.Depth = 1 }},
		{"values", "[1,2,3]", func(l *strictjson.Limits) { l.Values = 3 }},
		{"size", `["aaaaaaaaaaaaaaaa"]`, func(l *strictjson.Limits) { l.Size = 8 }},
		{"size with escapes", `["aaaaaaaaaaaaaa\n"]`, func(l *strictjson.Limits) { l.Size = 8 }},
		{"number", "123456789", func(l *strictjson.Limits) { l.Number = 8 }},
		{"exponent", "1e9", func(l *strictjson.Limits) { l.Exponent = 8 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := base.Decode([]byte(tt.text)); err != nil {
				t.Fatalf("under the defaults: %v", err)
			}
			limits := base
			tt.change(&limits)
			if got, err := limits.Decode([]byte(tt.text)); err == nil {
				t.Errorf("got %v, want an error", got)
			}
		})
	}
}

func TestPrefix(t *testing.T) {
	text := ` {"a":"</tool_call>"} </tool_call>`
	value, end, err := strictjson.Defaults().Prefix(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text[end:], " </tool_call>"; got != want {
		t.Errorf("rest is %q, want %q", got, want)
	}
	if diff := cmp.Diff(any(object{"a": "</tool_call>"}), value); diff != "" {
		t.Error(diff)
	}
}

func TestObjectKeepsOrderAndSpans(t *testing.T) {
	text := `{"name": "f", "arguments": {"b": 1, "a": 2} } tail`
	members, end, err := strictjson.Defaults().Object(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range members {
		got = append(got, m.Key+"="+text[m.Start:m.End])
	}
	want := []string{`name="f"`, `arguments={"b": 1, "a": 2}`}
	if diff := cmp.Diff(want, got); diff != "" || text[end:] != " tail" {
		t.Errorf("rest %q, diff %s", text[end:], diff)
	}
	if _, _, err := strictjson.Defaults().Object(`[1]`); err == nil {
		t.Error("a list was read as an object")
	}
	nine := `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,`
	for _, again := range []string{"a", "h", "i"} {
		if _, _, err := strictjson.Defaults().Object(nine + `"` + again + `":1}`); err == nil {
			t.Errorf("the second %q among ten keys was accepted", again)
		}
	}
}

func TestErrorsSayWhetherTheTextWasCut(t *testing.T) {
	for text, want := range map[string]bool{`{"a`: true, `{"a":`: true, "[1": true, `{"a":1}}`: false, `{"a" 1`: false, "[NaN": false} {
		_, err := strictjson.Decode([]byte(text))
		var failure *strictjson.Error
		if !errors.As(err, &failure) || failure.Cut() != want {
			t.Errorf("%s: got %v, want cut %t", text, err, want)
		}
	}
}

func TestAppendIsTheInverseOfDecode(t *testing.T) {
	for _, text := range []string{`{"a":[1.50,true,null,"\n\"\\\u0001é"],"b":{}}`, `[]`, `"<&>"`, `-0.0e5`} {
		value, err := strictjson.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(strictjson.Append(nil, value)); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
	if got := string(strictjson.AppendString(nil, "a\xffb\x7f")); got != "\"a\uFFFDb\x7f\"" {
		t.Errorf("got %s", got)
	}
}

// TestPointers takes the examples of RFC 6901, section 5.
func TestPointers(t *testing.T) {
	tests := []struct {
		pointer string
		path    []string
	}{
		{"", nil},
		{"/foo", []string{"foo"}},
		{"/foo/0", []string{"foo", "0"}},
		{"/", []string{""}},
		{"/a~1b", []string{"a/b"}},
		{"/m~0n", []string{"m~n"}},
		{"/~01", []string{"~1"}},
	}
	for _, test := range tests {
		t.Run(test.pointer, func(t *testing.T) {
			if got := strictjson.Pointer(test.path...); got != test.pointer {
				t.Errorf("the pointer of %q is %q, want %q", test.path, got, test.pointer)
			}
			if diff := cmp.Diff(test.path, strictjson.Path(test.pointer), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the path of %q: %s", test.pointer, diff)
			}
		})
	}
}

func TestPointersNameThePath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOf(rapid.String()).Draw(t, "path")
		if diff := cmp.Diff(path, strictjson.Path(strictjson.Pointer(path...)), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
