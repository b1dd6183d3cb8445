package internal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// phrases are not plain technical English, or not the form of this project's
// errors ("where: what is wrong; expected what").
func phrases() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bcan not\b|; want |\bwhoever\b|\bnobody\b|\bsays of\b`)
}

// findPhrases returns the places in a text that have one of the phrases.
func findPhrases(path, text string) (found []string) {
	for i, line := range strings.Split(text, "\n") {
		if phrase := phrases().FindString(line); phrase != "" {
			found = append(found, fmt.Sprintf("%s:%d: %q", path, i+1, phrase))
		}
	}
	return found
}

// TestPhrases keeps phrases out of Go files, pages, scripts and documents. Tests
// may say "got …; want …"; the history of versions and migrations of databases
// are not rewritten.
func TestPhrases(t *testing.T) {
	kinds := []string{".go", ".html", ".js", ".css", ".md", ".tmpl", ".py", ".yaml"}
	err := filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains(kinds, filepath.Ext(path)) || strings.HasSuffix(path, "_test.go") || entry.Name() == "CHANGELOG.md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(filepath.ToSlash(path), "internal/testkit/") {
			return nil // part of tests
		}
		for _, place := range findPhrases(path, string(text)) {
			t.Error(place)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPhrasesBite(t *testing.T) {
	text := "// It cannot.\n// It can not.\nerrors.New(\"got 1; want 2\")\n// Nobody knows.\n// what it says of them\n// nobody's\n"
	if found := findPhrases("x.go", text); len(found) != 5 {
		t.Errorf("found %q", found)
	}
}
