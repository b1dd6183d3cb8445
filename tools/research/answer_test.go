package research

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show formats claims: with % if marked, and ? if unreadable.
func show(list []claim) string {
	var out []string
	for _, c := range list {
		text := "?"
		if c.value != nil {
			text = c.value.FloatString(c.places)
		}
		if c.percent {
			text += "%"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestClaims(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"words", "I do not know.", ""},
		{"plain", "14.17", "14.17"},
		{"percent sign", "14.17%", "14.17%"},
		{"percent sign apart", "14.17 %", "14.17%"},
		{"no-break space", "14.17\u00a0%", "14.17%"},
		{"percent", "about 14.17 percent", "14.17%"},
		{"per cent", "14.17 per cent", "14.17%"},
		{"percentage points", "14.17 percentage points", "14.17%"},
		{"hyphenated points", "14.17 percentage-points", "14.17%"},
		{"pp", "14.17 pp", "14.17%"},
		{"not pp", "14.17 ppm", "14.17"},
		{"bold", "**14.17**%", "14.17%"},
		{"LaTeX", `\boxed{14.17\%}`, "14.17%"},
		{"full stop", "It is 14.17.", "14.17"},
		{"leading point", "It is .5%", "0.5%"},
		{"thousands", "1,234.5 dollars", "1234.5"},
		{"thousands or two numbers", "12,34", "12 34"},
		{"quarter", "Q3 rose 14.17%", "14.17%"},
		{"date", "on 2024-10-21: 14.17%", "14.17%"},
		{"range", "120-137", "120 137"},
		{"minus", "-3.52%", "-3.52%"},
		{"minus sign", "−3.52%", "-3.52%"},
		{"dash as minus", "(–3.52%)", "-3.52%"},
		{"plus sign", "+3.52% after a fall", "3.52%"},
		{"fell", "The price fell by 3.52%.", "-3.52%"},
		{"a decline of", "That is a decline of 3.52 %", "-3.52%"},
		{"word after the number", "a 3.52% decline", "-3.52%"},
		{"nearest word before the number", "the market fell yet the price rose 3.52%", "3.52%"},
		{"another clause", "The market fell, and the change is 3.52%", "3.52%"},
		{"sign beats word", "down -3.52%", "-3.52%"},
		{"two clauses", "A rose 2% and B fell 3%", "2% -3%"},
		{"two numbers before one word", "2% or 3% lower", "-2% -3%"},
		{"exponent", "1.417e1%", "?%"},
		{"too many digits", strings.Repeat("1", 33), "?"},
		{"digits of another script", "١٤٫١٧%", ""},
		{"invalid UTF-8", "\xff14.17%\xfe", "14.17%"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, show(claims(test.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzAnswer checks that numbers are bounded and that no text without the target is
// accepted.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{"14.17%", "fell −14.17 percent", "1,2,3", ".%", "14.17e9%", strings.Repeat("9", 100), "Q3 2024", "\xff"} {
		f.Add(text)
	}
	q := draw(oneReport, 0)
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range claims(text) {
			if c.value != nil && c.value.Denom().BitLen() > 128 {
				t.Errorf("%q: %s", text, c.value)
			}
		}
		if q.answeredBy(text, nil) && !strings.Contains(text, "14.1") {
			t.Errorf("%q is accepted as the answer", text)
		}
	})
}

// TestHostileAnswers checks that long texts are rejected quickly: quadratic time would
// exceed the timeout of the test.
func TestHostileAnswers(t *testing.T) {
	q := draw(oneReport, 0)
	for name, text := range map[string]string{
		"a megabyte of digits":      strings.Repeat("9", 1<<20),
		"a megabyte of points":      strings.Repeat(".", 1<<20),
		"full length of digits":     strings.Repeat("9", maxTextBytes),
		"full length of numbers":    strings.Repeat("9 ", maxTextBytes/2),
		"full length of ones":       strings.Repeat("1 ", maxTextBytes/2),
		"full length before a word": strings.Repeat("9% ", maxTextBytes/3) + "down",
		"full length of words":      strings.Repeat("down", maxTextBytes/4),
		"correct but too long":      "14.17%" + strings.Repeat(" ", maxTextBytes),
	} {
		t.Run(name, func(t *testing.T) {
			if q.answeredBy(text, []*big.Rat{big.NewRat(120, 1)}) {
				t.Error("accepted as the answer")
			}
		})
	}
}
