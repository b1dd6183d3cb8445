package lab

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toolgym/grpo"
	"toolgym/grpo/parse"
)

func TestSegments(t *testing.T) {
	tests := []struct {
		name, text string
		places     []stretch
		want       []segment
	}{
		{"nothing", "", nil, nil},
		{"no place", "abc", nil, []segment{{Text: "abc"}}},
		{"within", "abcdef", []stretch{{1, 5, "strict", 1}, {2, 3, "argument", 2}}, []segment{
			{Text: "a"}, {"b", "at-strict", []int{1}}, {"c", "at-strict at-argument", []int{2}}, {"de", "at-strict", nil}, {Text: "f"}}},
		{"across", "abcd", []stretch{{0, 3, "strict", 1}, {1, 4, "lost", 2}}, []segment{
			{"a", "at-strict", []int{1}}, {"bc", "at-strict at-lost", []int{2}}, {"d", "at-lost", nil}}},
		{"a point behind the end", "ab", []stretch{{0, 2, "lost", 1}, {2, 2, "argument", 2}}, []segment{{"ab", "at-lost", []int{1}}, {Pins: []int{2}}}},
		{"inside of a character", "a€b", []stretch{{2, 4, "strict", 1}}, []segment{{Text: "a"}, {"€", "at-strict", []int{1}}, {Text: "b"}}},
		{"out of the text", "ab", []stretch{{1, 9, "strict", 1}, {-3, -1, "lost", 2}}, []segment{{"a", "", []int{2}}, {"b", "at-strict", []int{1}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, segments(test.text, test.places)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSegmentsAreTheText, whatever is marked: nothing is lost or said twice,
// every finding is marked once, and no character is torn.
func TestSegmentsAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 60, -1).Draw(t, "text")
		var places []stretch
		for n := range rapid.IntRange(0, 12).Draw(t, "places") {
			start, end := rapid.IntRange(-2, len(text)+2).Draw(t, "start"), rapid.IntRange(-2, len(text)+2).Draw(t, "end")
			places = append(places, stretch{start, end, "strict", n + 1})
		}
		var whole strings.Builder
		pins := map[int]int{}
		for _, s := range segments(text, places) {
			whole.WriteString(s.Text)
			for _, pin := range s.Pins {
				pins[pin]++
			}
			if utf8.ValidString(text) && !utf8.ValidString(s.Text) {
				t.Errorf("%q is torn", s.Text)
			}
		}
		if whole.String() != text {
			t.Errorf("%q became %q", text, whole.String())
		}
		for _, place := range places {
			if pins[place.number] != 1 {
				t.Errorf("finding %d is marked %d times", place.number, pins[place.number])
			}
		}
	})
}

func TestRuler(t *testing.T) {
	measure := ruler{text: "ab\n€c\n"}
	for _, test := range [][3]int{{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {6, 2, 2}, {8, 3, 1}, {1, 1, 2}} {
		if line, column := measure.measure(test[0]); line != test[1] || column != test[2] {
			t.Errorf("byte %d is at %d:%d, want %d:%d", test[0], line, column, test[1], test[2])
		}
	}
}

// TestPlaces holds what is said about a text to where it is said: [kind marked].
func TestPlaces(t *testing.T) {
	const right = `{"name": "get_forecast", "arguments": {"city": "Oslo", "days": 3}}`
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a call", "<tool_call>\n" + right + "\n</tool_call>", []string{"strict <tool_call>\n" + right + "\n</tool_call>"}},
		{"reasoning", "<think>so €</think>\nHello.", []string{"reasoning so €"}},
		{"blank reasoning", "<think>\n</think>\nHello.", nil},
		{"a wrong type", `<tool_call>{"name": "get_forecast", "arguments": {"city": "Ålesund", "days": "€"}}</tool_call>`, []string{
			`strict <tool_call>{"name": "get_forecast", "arguments": {"city": "Ålesund", "days": "€"}}</tool_call>`, `argument "€"`}},
		{"an unknown argument", `<tool_call>{"name": "get_forecast", "arguments": {"city": "x", "days": 1, "zz": [1]}}</tool_call>`, []string{
			`strict <tool_call>{"name": "get_forecast", "arguments": {"city": "x", "days": 1, "zz": [1]}}</tool_call>`, "argument [1]"}},
		{"no JSON", `<tool_call>{"name": "f", "arguments": {"a" 3}}</tool_call>`, []string{`lost <tool_call>{"name": "f", "arguments": {"a" 3}}</tool_call>`, "argument 3"}},
		{"broken off", `<tool_call>{"name": "f`, []string{`lost <tool_call>{"name": "f`, "argument "}},
		{"a made-up result", "Hm.\n<tool_response>\n{}\n</tool_response>\nSo.", []string{"unread <tool_response>\n{}\n</tool_response>\nSo."}},
	}
	var set = mustSpecimenTools(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reading, err := parse.Request{Input: parse.Input{Text: &test.text, Family: parse.Hermes, FinishReason: "stop"}, Tools: set}.Read()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			list, _ := findings(test.text, reading, nil, nil)
			for _, place := range marks(list) {
				got = append(got, place.kind+" "+test.text[place.start:place.end])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEveryDefectHasWords reads the names from where they are declared.
func TestEveryDefectHasWords(t *testing.T) {
	source, err := os.ReadFile("../../grpo/parse/reading.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`Defect\w+ +Defect = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(names) < 50 {
		t.Fatalf("found %d defects", len(names))
	}
	for _, name := range names {
		if defectSentences()[parse.Defect(name[1])] == "" {
			t.Errorf("%s has no words", name[1])
		}
	}
	if got := defectWords("never_heard_of"); got != "Never heard of." {
		t.Errorf("an unknown defect is %q", got)
	}
}

func TestVerdictsAreTold(t *testing.T) {
	for _, verdict := range []string{grpo.VerdictRight, grpo.VerdictWrong, grpo.VerdictExtra, grpo.VerdictRepeated, grpo.VerdictAfterEnd} {
		if verdictWords(grpo.Call{Verdict: verdict}) == "" {
			t.Errorf("%s has no words", verdict)
		}
	}
}
