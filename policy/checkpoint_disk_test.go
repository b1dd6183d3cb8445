//go:build linux

package policy_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy"
)

// TestSaveFails tries places that cannot be written. What was saved before
// stays, and no scraps are left.
func TestSaveFails(t *testing.T) {
	path, tr := saved(t, policy.UpdateA2C)
	tr.train(t, 1)
	cases := map[string]struct {
		path   string
		broken func(t *testing.T)
	}{
		"no such folder":          {path: filepath.Join(filepath.Dir(path), "none", "net.safetensors")},
		"a folder that is a file": {path: filepath.Join(path, "net.safetensors")},
		"a full disk":             {path: path, broken: fullDisk},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.broken != nil {
				c.broken(t)
			}
			if err := tr.learner.Save(c.path, policy.Checkpoint{}); err == nil {
				t.Error("saved")
			}
			wantFiles(t, filepath.Dir(path), "net.json", "net.safetensors")
			if _, c, err := policy.LoadLearner(path); err != nil || c.Update != 3 {
				t.Errorf("the old checkpoint is at update %d: %v", c.Update, err)
			}
		})
	}
}

// fullDisk lets no file grow beyond a kilobyte until the test ends.
func fullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1024, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	})
}

func wantFiles(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-) and got (+):\n%s", diff)
	}
}

// TestStoppedBetweenFiles stands for a machine that stops while it saves: the
// sidecar under its second name, and the weights old or new.
func TestStoppedBetweenFiles(t *testing.T) {
	path, tr := saved(t, policy.UpdateA2C)
	tr.train(t, 1)
	newer := filepath.Join(t.TempDir(), "net.safetensors")
	if err := tr.learner.Save(newer, policy.Checkpoint{}); err != nil {
		t.Fatal(err)
	}
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	json := func(path string) string { return strings.TrimSuffix(path, ".safetensors") + ".json" }
	wantUpdate := func(want int) {
		t.Helper()
		_, c, err := policy.LoadLearner(path)
		if err != nil || c.Update != want {
			t.Errorf("update %d (%v), want %d", c.Update, err, want)
		}
	}
	move(json(newer), json(path)+".next")
	wantUpdate(3)
	move(newer, path)
	wantUpdate(4)
}

// TestForeignNextSidecar: what is wrong with a sidecar under its second name is
// told with the file's name as well.
func TestForeignNextSidecar(t *testing.T) {
	path, _ := saved(t, policy.UpdateA2C)
	sidecar := strings.TrimSuffix(path, ".safetensors") + ".json"
	if err := os.Rename(sidecar, sidecar+".next"); err != nil {
		t.Fatal(err)
	}
	edit(t, sidecar+".next", func(s string) string { return strings.Replace(s, `"hidden":16`, `"hidden":32`, 1) })
	_, _, err := policy.LoadLearner(path)
	wantRefused(t, err, path+": ")
	wantRefused(t, err, "shape")
}
