package parse

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMatcher compares the matcher with a search for each word.
func TestMatcher(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	letters := func(most int) string {
		b := make([]byte, random.IntN(most+1))
		for i := range b {
			b[i] = "abc"[random.IntN(3)]
		}
		return string(b)
	}
	for i := range 2000 {
		words := make([]string, random.IntN(5))
		for j := range words {
			words[j] = letters(5)
			if i%10 > 0 {
				words[j] += "a" // nearly always not empty
			}
		}
		text := letters(12)
		want := slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
		if got := newMatcher(slices.Values(words)).in(text); got != want {
			t.Fatalf("%q in %q: got %t", words, text, got)
		}
	}
}

// TestMemo asks a scan for words, markers and blanks at random offsets, and
// compares with a scan that remembers nothing.
func TestMemo(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"<tool_call>", "<think>", "a", "\n", "```", " >>>", "\n>>>", strings.Repeat(" ", shortRun), strings.Repeat(" \n", shortRun), "<"}
	reader := NewReader(nil)
	for range 300 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		fresh := func() *scan {
			s := new(scan)
			reader.prepare(s, b.String()+"x", Hermes, "stop")
			return s
		}
		s := fresh()
		for range 60 {
			from, word := random.IntN(s.end+2), parts[random.IntN(5)]
			if random.IntN(10) == 0 {
				s.family = []Family{Hermes, Functionary}[random.IntN(2)]
			}
			naive := fresh()
			naive.family = s.family
			if got, want := s.find(word, from), naive.find(word, from); got != want {
				t.Fatalf("%q: found %q from %d at %d, want %d", s.text, word, from, got, want)
			}
			got, gotOK := s.nextMark(from)
			want, wantOK := naive.nextMark(from)
			if got != want || gotOK != wantOK {
				t.Fatalf("%q: the marker from %d is at %d, %t, want %d, %t", s.text, from, got.at, gotOK, want.at, wantOK)
			}
			if got, want := s.skipBlanks(from), len(s.text)-len(strings.TrimLeft(s.text[min(from, s.end):], " \n")); from <= s.end && got != want {
				t.Fatalf("%q: blanks from %d end at %d, want %d", s.text, from, got, want)
			}
		}
	}
}

// TestMemoIsLinear asks for what stands nowhere, at every offset, forwards and
// backwards.
func TestMemoIsLinear(t *testing.T) {
	text := strings.Repeat(" ", 50_000) + strings.Repeat("a", 50_000)
	questions := map[string]func(s *scan, at int){
		"a word":   func(s *scan, at int) { s.find("</tool_call>", at) },
		"a marker": func(s *scan, at int) { s.nextMark(at) },
		"blanks":   func(s *scan, at int) { s.skipBlanks(at) },
	}
	for name, ask := range questions {
		for _, backwards := range []bool{false, true} {
			if name == "blanks" && backwards {
				continue // readers skip blanks forwards
			}
			s := new(scan)
			NewReader(nil).prepare(s, text, Hermes, "stop")
			for i := range text {
				if backwards {
					i = len(text) - 1 - i
				}
				ask(s, i)
			}
			if s.budget.spent > 4*len(text) {
				t.Errorf("%s, backwards %t: %d bytes looked at", name, backwards, s.budget.spent)
			}
		}
	}
}
