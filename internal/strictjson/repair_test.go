package strictjson_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/strictjson"
)

func TestMend(t *testing.T) {
	tests := []struct {
		name, text string
		want       object
		kinds      []strictjson.Kind
	}{
		{"nothing to mend", `{"a":1}`, object{"a": json.Number("1")}, nil},
		{"trailing commas", `{"a":[1,],}`, object{"a": []any{json.Number("1")}}, []strictjson.Kind{strictjson.TrailingComma}},
		{"raw newline", "{\"a\":\"x\ny\"}", object{"a": "x\ny"}, []strictjson.Kind{strictjson.ControlCharacter}},
		{"raw tab after an escape", "{\"a\":\"\\n\t\"}", object{"a": "\n\t"}, []strictjson.Kind{strictjson.ControlCharacter}},
		{"lone surrogate", `{"a":"\ud83c!"}`, object{"a": "\ufffd!"}, []strictjson.Kind{strictjson.LoneSurrogate}},
		{"Python's dictionary", `{'a': "cook's", 'b': True, 'c': None, 'd': 'it\'s'}`, object{"a": "cook's", "b": true, "c": nil, "d": "it's"}, []strictjson.Kind{strictjson.PythonLiteral}},
		{"Python's escapes only inside Python", `{'a': "\x41\d"}`, object{"a": `A\d`}, []strictjson.Kind{strictjson.PythonLiteral}},
		{"Python's numbers", `{'a': [.5, 5., +5, 1_000, -.5, 5.e3]}`, object{"a": []any{json.Number("0.5"), json.Number("5.0"), json.Number("5"), json.Number("1000"), json.Number("-0.5"), json.Number("5.0e3")}}, []strictjson.Kind{strictjson.PythonLiteral}},
		{"two kinds", "{'a': 'x\ny',}", object{"a": "x\ny"}, []strictjson.Kind{strictjson.TrailingComma, strictjson.ControlCharacter, strictjson.PythonLiteral}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			members, end, mends, err := strictjson.Defaults().Mend(tt.text + " rest")
			if err != nil {
				t.Fatal(err)
			}
			got := object{}
			for _, m := range members {
				got[m.Key] = m.Value
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || end != len(tt.text) {
				t.Errorf("end %d, want %d; diff %s", end, len(tt.text), diff)
			}
			if diff := cmp.Diff(tt.kinds, mends.Kinds()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMendSaysHowFarItLooked finds a fault at an offset before that.
func TestMendSaysHowFarItLooked(t *testing.T) {
	text := `{"a":1,"a":[1,2,3],`
	_, end, _, err := strictjson.Defaults().Mend(text)
	failure, ok := errors.AsType[*strictjson.Error](err)
	if want := strings.Index(text, "]"); !ok || failure.Offset > want || end <= want {
		t.Errorf("the end is %d, %v", end, err)
	}
}

func TestMendRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		kind       strictjson.Kind
	}{
		{"missing brace", `{"a":{"b":1}`, strictjson.UnexpectedEnd},
		{"bad escape", `{"a":"\d"}`, strictjson.BadEscape},
		{"unescaped quote", `{"a":"x "y" z"}`, strictjson.UnescapedQuote},
		{"duplicate key", `{"a":1,"a":2}`, strictjson.DuplicateKey},
		{"NaN", `{"a":NaN}`, strictjson.NonFinite},
		{"NaN in Python", `{'a':NaN}`, strictjson.NonFinite},
		{"infinity in Python", `{'a':-inf}`, strictjson.BadNumber},
		{"bare key", `{a:1}`, strictjson.Unexpected},
		{"comment", `{"a":1 /*x*/}`, strictjson.Unexpected},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", strictjson.InvalidUTF8},
		{"tuple", `{'a':(1,2)}`, strictjson.Unexpected},
		{"expression", `{'a':1+1}`, strictjson.Unexpected},
		{"call", `{'a':f()}`, strictjson.Unexpected},
		{"octal escape", `{'a':'\012'}`, strictjson.BadEscape},
		{"leading zeros", `{'a':007}`, strictjson.BadNumber},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			members, _, _, err := strictjson.Defaults().Mend(tt.text)
			var failure *strictjson.Error
			if !errors.As(err, &failure) || failure.Kind != tt.kind {
				t.Errorf("got %v, %v, want %s", members, err, tt.kind)
			}
		})
	}
}

func TestInteger(t *testing.T) {
	tests := []struct {
		text    string
		want    string
		integer bool
	}{
		{"5", "5", true}, {"120.0", "120", true}, {"1e3", "1000", true}, {"-0", "0", true}, {"0.0e9", "0", true},
		{"12.5e1", "125", true}, {"100e-2", "1", true}, {"9007199254740993", "9007199254740993", true},
		{"-9223372036854775809", "-9223372036854775809", true}, {"0.00100e3", "1", true},
		{"1.5", "", false}, {"1e-1", "", false}, {"12.55e1", "", false}, {"x", "", false}, {"", "", false}, {"01", "", false},
		{"1e999999999", "", true}, {"1e-999999999", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			if got := strictjson.IsInteger(json.Number(tt.text)); got != tt.integer {
				t.Errorf("IsInteger is %t", got)
			}
			got, ok := strictjson.Integer(json.Number(tt.text))
			if ok != (tt.want != "") {
				t.Fatalf("Integer says %t", ok)
			}
			want, _ := new(big.Int).SetString(tt.want, 10)
			if ok && got.Cmp(want) != 0 {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"1", "1.0", true}, {"10e-1", "1", true}, {"-0", "0", true}, {"0.1", "1e-1", true}, {"1", "-1", false}, {"1", "10", false},
		{"9007199254740993", "9007199254740992", false}, {`"1"`, "1", false}, {"null", "false", false}, {"null", "null", true},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true}, {`{"a":null}`, `{"b":null}`, false}, {`{"a":1}`, `{"a":1,"b":2}`, false},
		{"[1,2]", "[2,1]", false}, {"[]", "{}", false}, {"[1]", "[1,1]", false}, {`"é"`, `"\u00e9"`, true}, {"true", "true", true},
	}
	for _, tt := range tests {
		t.Run(tt.a+" and "+tt.b, func(t *testing.T) {
			a, err := strictjson.Decode([]byte(tt.a))
			if err != nil {
				t.Fatal(err)
			}
			b, err := strictjson.Decode([]byte(tt.b))
			if err != nil {
				t.Fatal(err)
			}
			if got := strictjson.Equal(a, b); got != tt.want {
				t.Errorf("got %t", got)
			}
			if got := strictjson.Equal(b, a); got != tt.want {
				t.Errorf("the other way round: %t", got)
			}
		})
	}
}

func TestLiteral(t *testing.T) {
	tests := []struct {
		name, text string
		want       any
		mends      strictjson.Mends
	}{
		{"JSON", `{"a": [1, null, "\u00e9"]}`, object{"a": []any{json.Number("1"), nil, "é"}}, 0},
		{"Python's quotes", `'it\'s "x"'`, `it's "x"`, strictjson.MendPython},
		{"Python's escapes in double quotes", `"\d\x41\'"`, `\dA'`, strictjson.MendPython},
		{"Python's words", `[True, None]`, []any{true, nil}, strictjson.MendPython},
		{"trailing comma", `[1,]`, []any{json.Number("1")}, strictjson.MendComma},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, end, mends, err := strictjson.Defaults().Literal(tt.text + ", b=1)")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || end != len(tt.text) || mends != tt.mends {
				t.Errorf("end %d, want %d; mends %v, want %v; diff %s", end, len(tt.text), mends, tt.mends, diff)
			}
		})
	}
	for _, text := range []string{"", "f(1)", "nan", "-inf", "(1,)", "x", "'a\xff'"} {
		if got, _, _, err := strictjson.Defaults().Literal(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}
