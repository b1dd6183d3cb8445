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
