package main

import (
	"bytes"
	"strings"
	"testing"

	"toolgym/api/dialect/trl"
)

// TestExportHasTheDefaultsOfSettings: the flags say them again.
func TestExportHasTheDefaultsOfSettings(t *testing.T) {
	want, err := trl.Default().Script()
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"export", "trl"}, strings.NewReader(""), &out, &errOut); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	if out.String() != string(want) {
		t.Error("the flags have other defaults than trl.Default")
	}
}
