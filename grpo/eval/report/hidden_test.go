package report_test

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"toolgym/grpo"
	"toolgym/grpo/eval/report"
	"toolgym/grpo/parse"
)

// TestHiddenCharactersAreShown gives a report names and reasons with characters
// that turn text around, command a terminal, or begin a formula: of a database
// of before, a suite or a server.
func TestHiddenCharactersAreShown(t *testing.T) {
	const bad = "=1+1\u202eabc\u200b\x1b[2J\x00\v\ufffe"
	records := played("chat", "0", "PF")
	for i := range records {
		records[i].Run, records[i].Model, records[i].Level = bad, bad, bad
	}
	records[0].Failure = &parse.Failure{Kind: grpo.FailureServing, Reason: bad}
	records[0].Reward = nil
	run := plan(records, 1, "chat")
	run.Name, run.Model = bad, bad
	r, err := report.New(run, records, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []report.Format{report.Text, report.Markdown, report.HTML, report.JUnit} {
		got := render(t, r, format)
		if strings.ContainsAny(got, "\u202e\u200b\x1b\x00\v") {
			t.Errorf("%s has a hidden character: %q", format, got)
		}
		if !strings.Contains(got, "⟨U+202E⟩abc") {
			t.Errorf("%s does not show it: %q", format, got)
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(render(t, r, report.JUnit)))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("junit is not XML: %v", err)
		}
	}
	lines, err := csv.NewReader(strings.NewReader(render(t, r, report.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		for i, cell := range line {
			if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "+") {
				t.Errorf("column %d begins a formula: %q", i, cell)
			}
		}
	}
	if lines[1][0] != "'"+bad {
		t.Errorf("the run is %q", lines[1][0])
	}
}
