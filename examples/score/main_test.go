package main

import (
	"flag"
	"strings"
	"testing"

	"toolgym/internal/testkit"
)

var update = flag.Bool("update", false, "write the golden output")

func TestOutput(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/output.txt", out.String(), *update)
}
