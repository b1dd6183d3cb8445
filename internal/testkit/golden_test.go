package testkit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/internal/testkit"
)

// recorder records the errors that a comparison reports.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "golden.txt")
	if err := os.WriteFile(path, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, got string
		update    bool
		errors    int
	}{
		{"equal", "a\nb\n", false, 0},
		{"different", "a\nc\n", false, 1},
		{"updated", "a\nc\n", true, 0},
		{"equal after the update", "a\nc\n", false, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{TB: t}
			testkit.Golden(r, path, test.got, test.update)
			if len(r.errors) != test.errors {
				t.Errorf("got %d errors, want %d: %s", len(r.errors), test.errors, strings.Join(r.errors, "\n"))
			}
		})
	}
}
