//go:build mutation

package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMutations breaks every defence that SECURITY.md lists, one at a time, and
// checks that the tests which its row names fail. All mutations are compiled into
// one overlay of the source tree; a variable of the environment enables one.
func TestMutations(t *testing.T) {
	packages := testPackages(t)
	overlay := writeOverlay(t)
	binaries := map[string]string{}
	for i, m := range mutations() {
		for _, name := range m.tests {
			folder := packages[name][0]
			if binaries[folder] == "" {
				binaries[folder] = buildTests(t, overlay, folder)
			}
			t.Run(fmt.Sprintf("%02d %s/%s", i, m.threats[0], name), func(t *testing.T) {
				output := runTest(t, binaries[folder], folder, name, fmt.Sprint(i))
				if !failed(output, name) {
					t.Errorf("%s passes although %s has\n\t%s\nin the place of\n\t%s\n%.2000s", name, m.file, m.new, m.old, output)
				}
			})
		}
	}
	t.Run("without mutation", func(t *testing.T) {
		for folder, binary := range binaries {
			var names []string
			for _, m := range mutations() {
				for _, name := range m.tests {
					if packages[name][0] == folder && !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
			if output := runTest(t, binary, folder, strings.Join(names, "|"), "none"); strings.Contains(output, "\n--- FAIL: ") || !strings.HasSuffix(output, "PASS\n") {
				t.Errorf("%s: tests fail without a mutation:\n%s", folder, output)
			}
		}
	})
}

// writeOverlay writes all mutated files, and for each of their packages a file
// with the function that enables them. It returns the overlay's path.
func writeOverlay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	written := 0
	write := func(file, text string) {
		path, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		written++
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", written))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range mutatedFiles() {
		source := mutate(t, file)
		write(file, source)
		name := strings.TrimPrefix(source[strings.Index("\n"+source, "\npackage "):], "package ")
		name, _, _ = strings.Cut(name, "\n")
		write(filepath.ToSlash(filepath.Join(filepath.Dir(file), "mutated.go")), fmt.Sprintf(`package %s

import (
	"os"
	"strconv"
)

func mutated(n int) bool { return os.Getenv("TOOLGYM_MUTATION") == strconv.Itoa(n) }

func choose[T any](n int, broken, intact T) T {
	if mutated(n) {
		return broken
	}
	return intact
}
`, name))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// buildTests builds the test binary of a package with the overlay.
func buildTests(t *testing.T, overlay, folder string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "test.exe")
	command := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+folder)
	command.Dir = ".."
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return binary
}

func runTest(t *testing.T, binary, folder, name, mutation string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "-test.v", "-test.timeout=1m", "-test.run=^("+name+")$")
	command.Dir = filepath.Join("..", filepath.FromSlash(folder))
	command.Env = append(os.Environ(), "TOOLGYM_MUTATION="+mutation)
	output, _ := command.CombinedOutput() // its exit code says less than its output
	return string(output)
}

// failed reports whether a test failed, ended the process or ran into its time
// limit.
func failed(output, name string) bool {
	if !strings.Contains(output, "=== RUN   "+name+"\n") {
		return false
	}
	passed := strings.Contains(output, "--- PASS: "+name+" ") || strings.Contains(output, "--- SKIP: "+name+" ")
	return !passed && (strings.Contains(output, "--- FAIL: "+name+" ") || strings.Contains(output, "panic: ") || strings.Contains(output, "goroutine "))
}
