package api_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatsAreTested holds SECURITY.md to its word: each line of its tables
// names a test, and each of these exists.
func TestThreatsAreTested(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(source)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| threat") {
			continue
		}
		names := regexp.MustCompile(`\b(Test|Fuzz)\w+`).FindAllString(line, -1)
		if len(names) == 0 {
			t.Errorf("no test holds: %s", line)
		}
		for _, name := range names {
			if !strings.Contains(sources.String(), "func "+name+"(") {
				t.Errorf("there is no %s, which is to hold: %s", name, line)
			}
		}
	}
}
