package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/grpo/parse"
	"toolgym/grpo/rollout"
	"toolgym/internal/testkit"
	"toolgym/tools"
)

// hostile is what a model may write to break a page, a table or a file.
const hostile = "\x1b[2J<script>alert(1)</script> | `x` \"quoted\", ]]> & *bold*"

// trial is a record of one level; letters as in P passed, F failed, N called
// nothing, s, h, i excluded.
func trial(route, level string, task, k int, letter rune) eval.Record {
	r := eval.Record{Digest: "sha256:aa", Seed: 7 + k, Server: "http://127.0.0.1:11434", Version: "0.6.5", Template: "sha256:bb",
		Started: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
	r.Trial = eval.Trial{Run: "nightly", Model: "qwen3:4b", Route: route, Task: fmt.Sprintf("arithmetic/%s/%d", level, task), Env: "arithmetic", Level: level,
		Trial: k, Turns: 2, PromptTokens: 300, OutputTokens: 40, Duration: 2 * time.Second, FinishReason: "stop"}
	transcript := rollout.Transcript{Messages: []json.RawMessage{message(hostile)}}
	r.Transcript, _ = json.Marshal(transcript)
	kinds := map[rune]grpo.Failure{
		's': {Kind: grpo.FailureServing, Reason: "40 tokens were generated, the message is empty"},
		'h': {Kind: grpo.FailureHarness, Reason: "the prompt was cut to num_ctx"},
		'i': {Kind: grpo.FailureInfrastructure, Reason: "connection refused"},
	}
	if failure, ok := kinds[letter]; ok {
		r.Failure = &failure
		return r
	}
	r.Success, r.Valid, r.Tier = letter == 'P', true, parse.Answer
	completion, reward := 0.0, 2.45
	if r.Success {
		completion, reward = 1, 5.45
	}
	if letter != 'N' {
		r.Tier = parse.Strict
		r.Calls = []grpo.Call{{Attempt: parse.Attempt{Tier: parse.Strict, Name: "add"}, Verdict: grpo.VerdictExecuted}}
	}
	r.Reward = &reward
	r.Criteria = grpo.CriteriaOf(grpo.CriterionScore{Name: grpo.CriterionFormat, Value: 1, Weight: 1}, grpo.CriterionScore{Name: grpo.CriterionCompletion, Value: completion, Weight: 3})
	return r
}

func message(text string) json.RawMessage {
	m, _ := json.Marshal(tools.Message{Role: "assistant", Content: text})
	return m
}

// played makes records from a line a task.
func played(route, level string, lines ...string) []eval.Record {
	var list []eval.Record
	for i, line := range lines {
		for k, letter := range line {
			list = append(list, trial(route, level, i, k, letter))
		}
	}
	return list
}

func trialsOf(run string, records []eval.Record) []eval.Trial {
	list := make([]eval.Trial, len(records))
	for i, r := range records {
		list[i] = r.Trial
		list[i].Run = run
	}
	return list
}

func plan(records []eval.Record, trials int, routes ...string) eval.Run {
	run := eval.Run{Name: "nightly", Created: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Model: "qwen3:4b", Digest: "sha256:aa",
		Routes: routes, Trials: trials, Seed: 7, Options: json.RawMessage(`{"num_ctx":4096}`), Command: []string{"toolgym", "eval", "--model", "qwen3:4b", "--suite", "my file.jsonl"}}
	seen := map[string]bool{}
	for _, r := range records {
		if !seen[r.Task] {
			seen[r.Task] = true
			run.Tasks = append(run.Tasks, eval.RunTask{ID: r.Task, Hash: "sha256:cc", Document: json.RawMessage(`{}`)})
		}
	}
	return run
}

// sample is a run of two levels, of which one trial was lost by the server.
func sample(t *testing.T) report.Report {
	t.Helper()
	records := append(played("chat", "0", "PPPP", "PPPP", "PPPP", "PFPP", "PPPP", "PPPN"), played("chat", "1", "FFFF", "PFFP", "NFFF", "PPPs")...)
	references := []report.Agent{
		{Name: "does nothing", Trials: trialsOf("does nothing", append(played("agent", "0", "NNNN", "NNNN", "NNNN", "NNNN", "NNNN", "NNNN"), played("agent", "1", "NNNN", "NNNN", "NNNN", "NNNN")...))},
		{Name: "oracle", Trials: trialsOf("oracle", append(played("agent", "0", "PPPP", "PPPP", "PPPP", "PPPP", "PPPP", "PPPP"), played("agent", "1", "PPPP", "PPPP", "PPPP", "PPPP")...))},
		{
			Name: "trained policy", Trials: trialsOf("trained policy", played("agent", "0", "PPPP", "PPPP", "PPPP", "PPPP", "PPPP", "FFFF")),
			LeftOut: []string{"arithmetic/1"}, Reason: "no policy is trained there",
		},
		{Name: "hermit", LeftOut: []string{"arithmetic/0", "arithmetic/1"}, Reason: "it opens to nobody"},
	}
	r, err := report.New(plan(records, 4, "chat"), records, references, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t *testing.T, r report.Report, format report.Format) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	for _, format := range []report.Format{report.Text, report.Markdown, report.CSV, report.JUnit} {
		t.Run(string(format), func(t *testing.T) {
			got := render(t, sample(t), format)
			testkit.Golden(t, filepath.Join("testdata", "sample."+string(format)), got, *update)
		})
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	page := render(t, sample(t), report.HTML)
	for _, reference := range []string{"src=", "href=", "@import", "url(", "<script"} {
		if strings.Contains(page, reference) {
			t.Errorf("the page has %s", reference)
		}
	}
	if n := strings.Count(page, "<svg"); n != 2 || strings.Contains(page, "#000000") {
		t.Errorf("%d figures, want 2 in the page's own colours", n)
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)") {
		t.Error("the model's text is not shown")
	}
	if again := render(t, sample(t), report.HTML); again != page {
		t.Error("the same records gave another page")
	}
}

func TestRowsCanBeReadBack(t *testing.T) {
	r := sample(t)
	lines, err := csv.NewReader(strings.NewReader(render(t, r, report.CSV))).ReadAll()
	if err != nil || len(lines) != 1+40 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Cases []struct{} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(render(t, r, report.JUnit)), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 40 || suites.Failures != 12 || suites.Errors != 1 || len(suites.Suites) != 2 || len(suites.Suites[0].Cases) != 24 {
		t.Errorf("%+v", suites)
	}
	var back report.Report
	if err := json.Unmarshal([]byte(render(t, r, report.JSON)), &back); err != nil {
		t.Fatal(err)
	}
	if back.Summary.Passed != r.Summary.Passed || len(back.Levels) != 2 || back.Run.Digest != "sha256:aa" {
		t.Errorf("%+v", back.Summary)
	}
}

func TestAReportWithoutCoverageHasNoHeadline(t *testing.T) {
	records := played("chat", "0", "PP", "Ps", "ih")
	r, err := report.New(plan(records, 3, "chat"), records, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	text := render(t, r, report.Text)
	for _, want := range []string{"is not given: only 3 of 6", "Worst case", "3 planned trials are missing", "serving: 40 tokens", "infrastructure: connection refused", "harness: the prompt"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
	render(t, r, report.HTML)
}

// The figures of a run that was stopped are of its first tasks, which are the
// easiest; the first words say so.
func TestAReportOfAnUnfinishedRun(t *testing.T) {
	records := played("chat", "0", "P", "P")
	r, err := report.New(plan(records, 3, "chat"), records, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if text := render(t, r, report.Text); !strings.HasPrefix(text, "RESULT\nSo far, ") || !strings.Contains(text, "%).\nThe run is not finished: 4 planned trials are missing.") {
		t.Errorf("it begins with %.300s", text)
	}
}

func TestChatAgainstRaw(t *testing.T) {
	records := append(played("chat", "0", "PP", "sF", "FP"), played("raw", "0", "PF", "PF", "FP")...)
	r, err := report.New(plan(records, 2, "chat", "raw"), records, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	want := &report.Switch{Both: 2, ChatOnly: 1, RawOnly: 1, Neither: 2, Lost: []string{"arithmetic/0/1"}}
	if diff := cmp.Diff(want, r.Switch); diff != "" {
		t.Error(diff)
	}
	if r.Summary.Trials != 6 {
		t.Errorf("the headline counts %d trials, want the chat route's 6", r.Summary.Trials)
	}
}

func TestAnEmptyRunCanBeReported(t *testing.T) {
	r, err := report.New(plan(nil, 1, "chat"), nil, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []report.Format{report.Text, report.Markdown, report.HTML, report.JSON, report.CSV, report.JUnit} {
		render(t, r, format)
	}
	var refused *tools.Error
	if err := r.Write(&bytes.Buffer{}, "pdf"); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

// TestShortRecordsGiveTheSameReport makes reports of whole records and of short
// ones, which have little of what a model wrote.
func TestShortRecordsGiveTheSameReport(t *testing.T) {
	records := append(played("chat", "0", "PFNs", "FFFF", "hiPN"), played("raw", "0", "PFPP", "PPPP", "FFPN")...)
	long := strings.Repeat("  word\n", 200_000)
	for i := range records {
		r := &records[i]
		r.Transcript, _ = json.Marshal(rollout.Transcript{Messages: []json.RawMessage{message(long), message(hostile + long), json.RawMessage(`{"role":"tool","content":"5"}`)}})
		if len(r.Calls) > 0 {
			r.Calls = append(r.Calls, grpo.Call{Attempt: parse.Attempt{Status: parse.StatusOK, Tier: parse.Strict, Arguments: json.RawMessage(`"` + long + `"`), Raw: long}})
		}
		switch i % 4 {
		case 1:
			r.Calls = append(r.Calls, grpo.Call{Attempt: parse.Attempt{Violations: []tools.Violation{{Message: long}, {}}}})
		case 2:
			r.Calls = append(r.Calls, grpo.Call{Attempt: parse.Attempt{Defects: []parse.Defect{parse.DefectUnknownTool}}})
		case 3:
			r.Missing = []tools.Call{{Name: long}}
		}
	}
	short := make([]eval.Record, len(records))
	for i := range records {
		short[i] = report.Short(records[i])
		text, err := json.Marshal(short[i])
		if err != nil || len(text) > 10_000 {
			t.Fatalf("a short record has %d bytes, %v", len(text), err)
		}
	}
	run := plan(records, 4, "chat", "raw")
	whole, err := report.New(run, records, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	same, err := report.New(run, short, nil, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []report.Format{report.Text, report.Markdown, report.HTML, report.JSON, report.CSV, report.JUnit} {
		if diff := cmp.Diff(render(t, whole, format), render(t, same, format)); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
}
