package plugin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeModule builds the module that README.md shows, as a user would: a
// separate one, with require and replace. The network is not needed: its sums
// are this module's.
func TestReadmeModule(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	mod := block(t, "```\nmodule ", "module ")
	main := block(t, "```go\npackage main", "package main")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": strings.Replace(mod, "../toolgym", root, 1), "main.go": main, "go.sum": string(sums),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{{"vet", "./..."}, {"build", "-o", os.DevNull, "."}} {
		command := exec.CommandContext(t.Context(), "go", arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
		}
	}
}

// block is the fenced block of README.md that begins so.
func block(t *testing.T, opening, first string) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), opening)
	if !ok {
		t.Fatalf("README.md has no block that begins with %q", opening)
	}
	body, _, ok := strings.Cut(rest, "\n```")
	if !ok {
		t.Fatalf("the block that begins with %q never ends", opening)
	}
	return first + body + "\n"
}
