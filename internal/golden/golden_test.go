package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/internal/golden"
)

// heard takes down what a comparison finds wrong.
type heard struct {
	testing.TB
	wrong []string
}

func (h *heard) Helper() {}

func (h *heard) Errorf(format string, args ...any) {
	h.wrong = append(h.wrong, fmt.Sprintf(format, args...))
}

func TestCompare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "right.txt")
	if err := os.WriteFile(path, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, got string
		update    bool
		wrong     int
	}{
		{"the same", "a\nb\n", false, 0},
		{"another", "a\nc\n", false, 1},
		{"updated", "a\nc\n", true, 0},
		{"what was updated stays", "a\nc\n", false, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := &heard{TB: t}
			golden.Compare(h, path, test.got, test.update)
			if len(h.wrong) != test.wrong {
				t.Errorf("wrong: %s, want %d", strings.Join(h.wrong, "\n"), test.wrong)
			}
		})
	}
}
