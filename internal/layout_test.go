package internal_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

// rules are the checks that the whole house must pass; each is named by its
// archive in testdata/broken, which is a house that breaks it.
func rules() map[string]func(*house) []string {
	return map[string]func(*house) []string{
		"imports":         checkImports,
		"confinement":     checkConfinement,
		"file-length":     checkFileLength,
		"function-length": checkFunctionLength,
		"examples":        checkExamples,
		"manuals":         checkManuals,
		"top":             checkTop,
		"init":            checkInit,
		"paths":           checkPaths,
		"words":           checkWords,
		"goroutines":      checkGoroutines,
	}
}

func TestHouse(t *testing.T) {
	h, err := readHouse(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	logFigures(t, h)
	for _, name := range slices.Sorted(maps.Keys(rules())) {
		t.Run(name, func(t *testing.T) {
			for _, broken := range rules()[name](h) {
				t.Error(broken)
			}
		})
	}
}

// TestHouseRulesBite runs each rule on a house that breaks it. The archive's
// comment lists what must be reported, one beginning of a report a line.
func TestHouseRulesBite(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(rules())) {
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(filepath.Join("testdata", "broken", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			h, err := readHouse(grow(archive))
			if err != nil {
				t.Fatal(err)
			}
			got := rules()[name](h)
			slices.Sort(got)
			want := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
			if len(got) != len(want) {
				t.Fatalf("got %d reports, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
			}
			for i := range want {
				if !strings.HasPrefix(got[i], want[i]) {
					t.Errorf("report %d: got %q, want it to begin with %q", i, got[i], want[i])
				}
			}
		})
	}
}

// grow makes a file system of an archive. A line "repeat N TEXT" in it stands
// for N lines of TEXT, so that long files need no long archives.
func grow(archive *txtar.Archive) fs.FS {
	root := fstest.MapFS{}
	for _, f := range archive.Files {
		var text strings.Builder
		for line := range strings.Lines(string(f.Data)) {
			var n int
			if _, err := fmt.Sscanf(line, "repeat %d", &n); err != nil {
				text.WriteString(line)
				continue
			}
			_, rest, _ := strings.Cut(strings.TrimPrefix(line, "repeat "), " ")
			for k := range n {
				text.WriteString(strings.ReplaceAll(rest, "#", fmt.Sprint(k)))
			}
		}
		root[f.Name] = &fstest.MapFile{Data: []byte(text.String())}
	}
	return root
}

// logFigures prints what the rules measure, for the eye.
func logFigures(t *testing.T, h *house) {
	t.Helper()
	sources := h.written()
	longest := slices.MaxFunc(sources, func(a, b source) int { return a.lines - b.lines })
	var functions []function
	for _, s := range sources {
		functions = append(functions, h.functions(s)...)
	}
	slices.SortFunc(functions, func(a, b function) int { return a.lines - b.lines })
	deepest := functions[len(functions)-1]
	t.Logf("packages %d, files %d (%d generated besides)", len(h.rooms()), len(sources), len(h.sources)-len(sources))
	t.Logf("file: median %d lines, longest %d (max %d) %s", medianLines(sources), longest.lines, maxFileLines, longest.path)
	t.Logf("function: median %d lines, longest %d (max %d) %s in %s", functions[len(functions)/2].lines, deepest.lines, maxFunctionLines, deepest.name, deepest.where.Filename)
}
