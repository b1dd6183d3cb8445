package internal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherModules builds modules that use this one by require and replace, as
// the READMEs show. Their go.mod also has this module's requirements, as go mod
// tidy would add them. With those alone, -mod=readonly and this module's sums, go
// needs no module that building this one has not already downloaded.
func TestOtherModules(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	readme := read(t, root, "plugin", "README.md")
	tests := []struct {
		name     string
		mod      string
		main     string
		commands [][]string
		want     string // what the commands print
	}{
		{
			name:     "the packages",
			mod:      "module example.org/user\n\ngo 1.26.0\n\nrequire toolgym v0.0.0\n\nreplace toolgym => ../toolgym\n",
			main:     read(t, root, "internal", "testdata", "module", "main.go.txt"),
			commands: [][]string{{"run", "."}},
			want:     "arithmetic/2/17 solved\n",
		},
		{
			name:     "README of plugin",
			mod:      block(t, readme, "module "),
			main:     block(t, readme, "package main"),
			commands: [][]string{{"vet", "."}, {"build", "-o", os.DevNull, "."}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			mod := strings.Replace(test.mod, "../toolgym", fmt.Sprintf("%q", root), 1)
			files := map[string]string{
				"go.mod":  mod + requirements(t, read(t, root, "go.mod")),
				"go.sum":  read(t, root, "go.sum"),
				"main.go": test.main,
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var printed strings.Builder
			for _, arguments := range test.commands {
				command := exec.CommandContext(t.Context(), "go", arguments...)
				command.Dir = folder
				command.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=readonly")
				out, err := command.CombinedOutput()
				if err != nil {
					t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
				}
				printed.Write(out)
			}
			if printed.String() != test.want {
				t.Errorf("printed %q, want %q", printed.String(), test.want)
			}
		})
	}
}

// read returns the text of a file.
func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block returns the first fenced block of a Markdown text whose content begins
// with start.
func block(t *testing.T, markdown, start string) string {
	t.Helper()
	for i, part := range strings.Split("\n"+markdown, "\n```") {
		_, content, _ := strings.Cut(part, "\n") // without the language
		if i%2 == 1 && strings.HasPrefix(content, start) {
			return content + "\n"
		}
	}
	t.Fatalf("no block begins with %q", start)
	return ""
}

// requirements returns the require directives of a go.mod, which are in blocks.
func requirements(t *testing.T, mod string) string {
	t.Helper()
	var found strings.Builder
	for i, part := range strings.Split(mod, "\nrequire (") {
		lines, _, closed := strings.Cut(part, "\n)")
		if i > 0 && closed {
			fmt.Fprintf(&found, "\nrequire (%s\n)\n", lines)
		}
	}
	if found.Len() == 0 {
		t.Fatal("go.mod has no block of requirements")
	}
	return found.String()
}
