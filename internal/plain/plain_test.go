package plain_test

import (
	"strings"
	"testing"

	"toolgym/internal/plain"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

func TestName(t *testing.T) {
	for _, name := range []string{"", "a", "7", "llama3.2:3b 2026-05-04 03:02:01", "hf.co/org/model:Q4_K_M", "größer", "模型 1", "a (b), c+d@e", "नमस्ते"} {
		if err := plain.Name("run", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for what, name := range map[string]string{
		"formula": "=1+1", "plus": "+1", "minus": "-1", "at": "@a", "tab": "a\tb", "return": "a\r", "line feed": "a\nb", "escape": "a\x1b[31m", "C1": "a\u009bb",
		"bidi override": "a\u202eb", "isolate": "a\u2066b", "zero width space": "a\u200bb", "joiner": "a\u200db", "byte order mark": "\ufeffa", "soft hyphen": "a\u00adb",
		"filler": "a\u3164b", "variation": "a\ufe0fb", "line separator": "a\u2028b", "tag": "a\U000e0041b", "emoji": "a😀", "quote": `a"b`, "markup": "a<b>", "pipe": "a|b",
		"not UTF-8": "a\xff", "long": strings.Repeat("a", 201), "blank at the end": "a ", "blank at the beginning": " a", "wide blank": "a\u00a0b",
	} {
		if err := plain.Name("run", name); !refusal.Is(err, tools.Invalid) || strings.ContainsAny(err.Error(), "\u202e\u200b\x1b\n") {
			t.Errorf("%s: %v", what, err)
		}
		if slug := plain.Slug(name); plain.Name("run", slug) != nil || slug == "" {
			t.Errorf("%s: the slug %q is not a name", what, slug)
		}
	}
}

func TestVisible(t *testing.T) {
	for _, test := range []struct{ text, line, lines string }{
		{"plain é 模 😀👩\u200d💻", "plain é 模 😀👩\u200d💻", "plain é 模 😀👩\u200d💻"},
		{"a\nb\tc", "a␊b␉c", "a\nb\tc"},
		{"\x1b[2J\r\x00\x7f\u009b", "␛[2J␍␀⟨U+007F⟩⟨U+009B⟩", "␛[2J␍␀⟨U+007F⟩⟨U+009B⟩"},
		{"abc\u202efed\u2069\u200b\ufeff\u2028\u00ad\u3164", "abc⟨U+202E⟩fed⟨U+2069⟩⟨U+200B⟩⟨U+FEFF⟩⟨U+2028⟩⟨U+00AD⟩⟨U+3164⟩", "abc⟨U+202E⟩fed⟨U+2069⟩⟨U+200B⟩⟨U+FEFF⟩⟨U+2028⟩⟨U+00AD⟩⟨U+3164⟩"},
		{"a\xffb", "a\ufffdb", "a\ufffdb"},
	} {
		if got := plain.Line(test.text); got != test.line {
			t.Errorf("Line(%q) = %q; want %q", test.text, got, test.line)
		}
		if got := plain.Text(test.text); got != test.lines {
			t.Errorf("Text(%q) = %q; want %q", test.text, got, test.lines)
		}
	}
}

func TestCell(t *testing.T) {
	for text, want := range map[string]string{"": "", "a=b": "a=b", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"\x20=1": "' =1", "＝1": "'＝1", "arithmetic/0/1": "arithmetic/0/1"} {
		if got := plain.Cell(text); got != want {
			t.Errorf("Cell(%q) = %q; want %q", text, got, want)
		}
	}
}
