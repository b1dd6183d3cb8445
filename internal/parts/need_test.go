package parts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/internal/parts"
)

// observed is a test that notes how it ended instead of ending.
type observed struct {
	testing.TB
	outcome, reason string
}

// ended is thrown where a real test would leave its goroutine.
type ended struct{}

func (o *observed) Helper() {}

func (o *observed) Fatalf(format string, args ...any) { o.end("failed", fmt.Sprintf(format, args...)) }
func (o *observed) Skipf(format string, args ...any)  { o.end("skipped", fmt.Sprintf(format, args...)) }
func (o *observed) Skip(args ...any)                  { o.end("skipped", fmt.Sprint(args...)) }

func (o *observed) end(outcome, reason string) {
	o.outcome, o.reason = outcome, reason
	panic(ended{})
}

// need runs parts.Need and tells how it ended and what it found.
func need(t *testing.T, p parts.Part) (o *observed, path string) {
	o = &observed{TB: t, outcome: "found"}
	defer func() {
		if r := recover(); r != nil && r != (ended{}) {
			panic(r)
		}
	}()
	return o, parts.Need(o, p)
}

// program writes an executable script and returns its path.
func program(t *testing.T, name, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNeed(t *testing.T) {
	works, broken := program(t, "works", "exit 0"), program(t, "broken", "exit 1")
	missing := filepath.Join(t.TempDir(), "missing")
	tests := []struct {
		name    string
		part    parts.Part
		setting map[string]string
		outcome string
		reason  string
	}{
		{"a variable points to it", parts.Ollama, map[string]string{"TOOLGYM_PART_OLLAMA": works}, "found", ""},
		{"on the PATH", parts.Chromium, map[string]string{"PATH": filepath.Dir(program(t, "chromium", "exit 0"))}, "found", ""},
		{"where go install puts it", parts.Ollama, map[string]string{"PATH": "", "GOBIN": filepath.Dir(program(t, "ollama", "exit 0"))}, "found", ""},
		{"missing", parts.Ollama, map[string]string{"TOOLGYM_PART_OLLAMA": missing}, "skipped", "go install github.com/ollama/ollama@v0.6.5"},
		{"missing but required", parts.Chromium, map[string]string{"TOOLGYM_PART_CHROMIUM": missing, parts.RequireVariable: "1"}, "failed", "apt-get install chromium"},
		{"a Python without torch", parts.Torch, map[string]string{"TOOLGYM_PART_PYTHON": broken}, "skipped", "python3-torch not found"},
		{"a Python that is too old", parts.Python, map[string]string{"TOOLGYM_PART_PYTHON": broken}, "skipped", "apt-get install python3"},
		{"a Python with torch", parts.Torch, map[string]string{"TOOLGYM_PART_PYTHON": works}, "found", ""},
		{"hidden", parts.Ollama, map[string]string{"TOOLGYM_PART_OLLAMA": works, parts.HideVariable: "1"}, "skipped", "hidden by"},
		{"hidden and required", parts.Ollama, map[string]string{"TOOLGYM_PART_OLLAMA": works, parts.HideVariable: "1", parts.RequireVariable: "1"}, "failed", "contradict"},
	}
	for _, test := range tests {
		t.Run(test.name+" is "+test.outcome, func(t *testing.T) {
			for _, name := range []string{parts.RequireVariable, parts.HideVariable, "TOOLGYM_PART_OLLAMA", "TOOLGYM_PART_CHROMIUM", "TOOLGYM_PART_PYTHON"} {
				t.Setenv(name, "")
			}
			for name, value := range test.setting {
				t.Setenv(name, value)
			}
			got, path := need(t, test.part)
			if got.outcome != test.outcome || !strings.Contains(got.reason, test.reason) {
				t.Errorf("got %s (%s), want %s (…%s…)", got.outcome, got.reason, test.outcome, test.reason)
			}
			if (path != "") != (test.outcome == "found") {
				t.Errorf("the path is %q", path)
			}
		})
	}
}
