package grpo_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
	"toolgym/grpo/parse"
)

func TestSpans(t *testing.T) {
	var c grpo.Completion
	for _, m := range []string{
		`{"role":"user","content":"Add."}`,
		`{"role":"assistant","content":"First "}`,
		`{"role":"tool","content":"{\"result\":3}"}`,
		`{"role":"assistant","content":""}`,
		`{"role":"assistant","content":[{"type":"text","text":"é3"}]}`,
	} {
		c.Messages = append(c.Messages, json.RawMessage(m))
	}
	got, own, err := c.Spans()
	if err != nil {
		t.Fatal(err)
	}
	want := `First {"result":3}é3`
	spans := []parse.Span{{Start: 0, End: 6}, {Start: 18, End: 21}}
	if got != want || cmp.Diff(spans, own) != "" {
		t.Errorf("%q with %v, want %q with %v", got, own, want, spans)
	}
	one := written("whole")
	if got, own, _ := one.Spans(); got != "whole" || cmp.Diff([]parse.Span{{Start: 0, End: 5}}, own) != "" {
		t.Errorf("%q with %v", got, own)
	}
	broken := grpo.Completion{Messages: []json.RawMessage{json.RawMessage(`7`)}}
	if _, _, err := broken.Spans(); err == nil {
		t.Error("a number was taken for a message")
	}
}

func TestMask(t *testing.T) {
	span := func(start, end int) parse.Span { return parse.Span{Start: start, End: end} }
	tests := []struct {
		name        string
		tokens, own []parse.Span
		want        []int
	}{
		{"all the model's", []parse.Span{span(0, 2), span(2, 5)}, []parse.Span{span(0, 5)}, []int{1, 1}},
		{"a result in between", []parse.Span{span(0, 6), span(6, 12), span(12, 18), span(18, 21)}, []parse.Span{span(0, 6), span(18, 21)}, []int{1, 0, 0, 1}},
		{"a token over the edge", []parse.Span{span(0, 4), span(4, 8), span(8, 9)}, []parse.Span{span(0, 6), span(8, 9)}, []int{1, 0, 1}},
		{"tokens without bytes", []parse.Span{span(0, 0), span(0, 2)}, []parse.Span{span(0, 2)}, []int{0, 1}},
		{"nothing of the model's", []parse.Span{span(0, 2)}, nil, []int{0}},
		{"no tokens", nil, []parse.Span{span(0, 2)}, []int{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, grpo.Mask(test.tokens, test.own)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
