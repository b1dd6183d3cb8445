package parse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// crasher is an input that once broke something.
type crasher struct {
	name   string
	family parse.Family
	text   string
}

// crashers is the table of past crashers; every one is a seed of the fuzz
// targets and a test of its own.
func crashers() []crasher {
	return []crasher{
		{"a tag of an unknown word never ends the loop", parse.Hermes, "<get_forecast>x</get_forecast>"},
		{"a special token without a word", parse.Harmony, "<|>"},
		{"a list whose second item is no call", parse.Mistral, "[A(),0<tool>"},
		{"a call before a broken one gets its family", parse.Auto, "[get_forecast(),0"},
		{"a prompt of Python's is no recipient", parse.Auto, ">>> list_rooms\n{}"},
	}
}

func TestPastCrashers(t *testing.T) {
	reader := parse.NewReader(declaredTools(t))
	for _, c := range crashers() {
		t.Run(c.name, func(t *testing.T) {
			got, err := reader.Read(parse.Input{Text: &c.text, Family: c.family})
			if err != nil {
				t.Fatal(err)
			}
			checkInvariants(t, c.text, got)
		})
	}
}

// FuzzText reads any text as any family, auto among them, twice: the second time
// into the reading of the text before, which shows neither in it nor in the first.
func FuzzText(f *testing.F) {
	families := parse.Families()
	for _, c := range crashers() {
		for i, family := range families {
			if family == c.family {
				f.Add(uint8(i), false, c.text)
			}
		}
	}
	for i, n := range natives() {
		f.Add(uint8(i), false, n.one)
		f.Add(uint8(len(families)-1), true, "<think>"+n.one+"</think>"+n.two+n.result)
		f.Add(uint8(i), true, n.cut)
	}
	for _, c := range fieldCases(f) {
		var text string
		if json.Unmarshal(c.Input, &text) == nil {
			f.Add(uint8(len(families)-1), false, text)
		}
	}
	reader := parse.NewReader(declaredTools(f))
	var used parse.Reading
	f.Fuzz(func(t *testing.T, family uint8, cut bool, text string) {
		in := parse.Input{Text: &text, Family: families[int(family)%len(families)]}
		if cut {
			in.FinishReason = "length"
		}
		got, err := reader.Read(in)
		if err != nil {
			t.Fatal(err)
		}
		checkInvariants(t, text, got)
		if err := reader.ReadInto(t.Context(), &used, in); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, used, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("read twice: %s", diff)
		}
	})
}

// FuzzMessage reads any server's body.
func FuzzMessage(f *testing.F) {
	for _, c := range fieldCases(f) {
		if c.Input[0] == '{' {
			f.Add([]byte(c.Input))
		}
	}
	f.Add([]byte(`{"error": "error parsing tool call: raw='{', err=x"}`))
	f.Add([]byte(`{"choices": [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}}]}`))
	reader := parse.NewReader(declaredTools(f))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := reader.Read(parse.Input{Message: body})
		var caller *tools.Error
		switch {
		case err == nil && got.Family == parse.Structured:
			checkInvariants(t, string(body), got)
		case err != nil && !errors.As(err, &caller):
			t.Fatalf("the error is a %T", err)
		}
	})
}

// FuzzStream assembles any chunks, one a line.
func FuzzStream(f *testing.F) {
	for _, c := range fieldCases(f) {
		var stream struct{ Stream []json.RawMessage }
		if c.Input[0] == '{' && json.Unmarshal(c.Input, &stream) == nil && stream.Stream != nil {
			var lines [][]byte
			for _, chunk := range stream.Stream {
				lines = append(lines, chunk)
			}
			f.Add(bytes.Join(lines, []byte("\n")))
		}
	}
	f.Add([]byte(`{"message": {"content": "x", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, "done": true, "eval_count": 3}`))
	reader := parse.NewReader(declaredTools(f))
	f.Fuzz(func(t *testing.T, lines []byte) {
		stream := []json.RawMessage{}
		for line := range bytes.SplitSeq(lines, []byte("\n")) {
			stream = append(stream, line)
		}
		got, err := reader.Read(parse.Input{Stream: stream})
		var caller *tools.Error
		if err != nil && !errors.As(err, &caller) {
			t.Fatalf("the error is a %T", err)
		}
		if err == nil && got.FormatOK != (got.Tier == parse.Strict || got.Tier == parse.Answer) {
			t.Fatalf("tier %s with format_ok %t", got.Tier, got.FormatOK)
		}
	})
}

// FuzzGrowth repeats a part between two others. However often that is, a fixed
// number of bytes is looked at for each byte of the text, and the attempts are
// bounded.
func FuzzGrowth(f *testing.F) {
	families := parse.Families()
	auto := uint8(len(families) - 1)
	for _, marker := range markers() {
		f.Add("", marker, "", auto, false, true)
		f.Add("[[", marker+"a", "]", auto, true, true)
	}
	for _, n := range natives() {
		f.Add("", n.one, n.result, auto, false, false)
		f.Add(n.cut, n.cut, "", auto, true, true)
	}
	f.Add("<tool_call>f", "<arg_key>a</arg_key><arg_value><tool_call>f<arg_key>b</arg_key><arg_value>x</arg_value>", "", auto, false, true)
	declared, none := growthReader(f, true), growthReader(f, false)
	f.Fuzz(func(t *testing.T, prefix, unit, suffix string, family uint8, cut, tools bool) {
		if len(prefix)+len(unit)+len(suffix) > 500 || unit == "" {
			t.Skip()
		}
		reader := none
		if tools {
			reader = declared
		}
		for _, size := range []int{8_000, 16_000} {
			text := prefix + strings.Repeat(unit, size/len(unit)) + suffix
			in := parse.Input{Text: &text, Family: families[int(family)%len(families)]}
			if cut {
				in.FinishReason = "length"
			}
			checkWork(t, reader, in)
		}
	})
}
