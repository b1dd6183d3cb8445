package golden

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Compare wants what was got to be the file's text. To update is to write the
// file first.
func Compare(t testing.TB, path, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: run with -update if this is meant:\n%s", path, diff)
	}
}
