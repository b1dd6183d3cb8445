package main

import (
	"flag"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"toolgym/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden output")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOutput(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, ""); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/output.txt", out.String(), *update)
}

func TestNoServer(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, "nowhere"); err == nil || out.Len() > 0 {
		t.Errorf("error %v, output %q", err, out.String())
	}
}
