package grpo

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMeasureTags(t *testing.T) {
	tests := []struct {
		name, text      string
		repeated, empty int
	}{
		{"none", "a < b and <b>bold</b>", 0, 0},
		{"each once", "<think>x</think><tool_call>{}</tool_call><answer>y</answer>", 0, 0},
		{"answers repeated", strings.Repeat("<answer>1</answer>", 3), 2, 0},
		{"calls may repeat", strings.Repeat("<tool_call>{}</tool_call>", 3), 0, 0},
		{"empty", "<think>\n\n</think><tool_call></tool_call>", 0, 2},
		{"empty and repeated", "<answer></answer><answer> </answer>", 1, 2},
		{"all five kinds twice", strings.Repeat("<think>a<thinking>a<thought>a<reasoning>a<answer>a", 2), 5, 0},
		{"unclosed at the end", "<think", 0, 0},
		{"a bracket inside", "<<think>x</think>", 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if repeated, empty := measureTags(test.text); repeated != test.repeated || empty != test.empty {
				t.Errorf("repeated %d, empty %d; want %d, %d", repeated, empty, test.repeated, test.empty)
			}
		})
	}
}

func TestRepetition(t *testing.T) {
	tests := []struct {
		name, text string
		want       float64
	}{
		{"empty", "", 0},
		{"three words", "so it is", 0},
		{"four words", "so it is now", 0},
		{"one word for ever", strings.Repeat("ha ", 103), 0.99},
		{"two halves", "a b c d a b c d", 0.2},
		{"order counts", "a b c d e\nd c b a", 0},
		{"beyond the bound", strings.Repeat("a b c d ", maxWords), (maxWords - 7.0) / (maxWords - 3)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := repetition(test.text); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// The hashed set agrees with a map of the grams themselves.
func TestRepetitionCountsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-c]{1,2}`), 0, 1200).Draw(t, "words")
		grams := map[string]bool{}
		for i := 3; i < len(words); i++ {
			grams[strings.Join(words[i-3:i+1], " ")] = true
		}
		want := 0.0
		if len(words) > 3 {
			want = float64(len(words)-3-len(grams)) / float64(len(words)-3)
		}
		if got := repetition(strings.Join(words, "\n ")); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
