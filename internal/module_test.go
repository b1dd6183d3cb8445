package internal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAnotherModuleUsesThePackages builds and runs a module that takes this
// one by require and replace, as the README shows. Nothing is downloaded: what
// it needs is what this module needs.
func TestAnotherModuleUsesThePackages(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, err := os.ReadFile(filepath.Join("testdata", "module", "main.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"main.go": string(program),
		"go.sum":  string(sums),
		"go.mod":  "module example.org/user\n\ngo 1.26.0\n\nrequire toolgym v0.0.0\n\nreplace toolgym => " + root + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", "-mod=mod", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "arithmetic/2/17 solved\n"; string(out) != want {
		t.Errorf("it prints %q, want %q", out, want)
	}
}
