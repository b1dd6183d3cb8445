package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolgym/grpo/eval"
	"toolgym/internal/ollamatest"
)

// told is what a command line said.
type told struct {
	out, err string
	code     int
}

// tell runs a command line against a data directory.
func tell(ctx context.Context, dir string, args ...string) told {
	var out, errOut bytes.Buffer
	code := run(ctx, append(args, "--data", dir), strings.NewReader(""), &out, &errOut)
	return told{out.String(), errOut.String(), code}
}

// sums writes a suite of n questions about adding, and returns its path.
func sums(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&b, `{"id":"sum_%d","question":"add %d and %d","function":{"name":"add","parameters":{"type":"dict","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}},"ground_truth":[{"add":{"a":[%d],"b":[%d]}}]}`+"\n", i, i, i+1, i, i+1)
	}
	path := filepath.Join(t.TempDir(), "sums.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// expect fails unless the command ended with the code and said the words.
func (got told) expect(t *testing.T, code int, words ...string) {
	t.Helper()
	if got.code != code {
		t.Errorf("exit code %d, want %d\n%s%s", got.code, code, got.out, got.err)
	}
	for _, word := range words {
		if !strings.Contains(got.out+got.err, word) {
			t.Errorf("it does not say %q:\n%s%s", word, got.out, got.err)
		}
	}
}

func fake(t *testing.T) *scripted {
	t.Helper()
	server := newScripted()
	t.Cleanup(server.Close)
	return server
}

func TestEvalAsJSON(t *testing.T) {
	server, dir := fake(t), t.TempDir()
	got := tell(t.Context(), dir, "eval", "--model", "good", "--ollama", server.URL, "--suite", sums(t, 5), "--trials", "2", "--run", "r", "--json")
	got.expect(t, exitDone)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if len(lines) != 11 {
		t.Fatalf("%d lines:\n%s", len(lines), got.out)
	}
	for _, line := range lines[:10] {
		var trial eval.Trial
		if err := json.Unmarshal([]byte(line), &trial); err != nil || !trial.Success || trial.Reward == nil || trial.Run != "r" || trial.Env != "sums" || trial.Level != "sum" {
			t.Errorf("%v: %s", err, line)
		}
	}
	var last struct {
		Summary eval.Summary `json:"summary"`
	}
	if err := json.Unmarshal([]byte(lines[10]), &last); err != nil {
		t.Fatal(err)
	}
	if s := last.Summary; s.Run != "r" || s.Model != "good" || s.Tasks != 5 || s.Trials != 10 || s.Scored != 10 || *s.Success != 1 || s.Coverage != 1 || s.Interval[0] >= 1 {
		t.Errorf("%+v", s)
	}
}

// What is kept can be listed, reported, compared, shown, exported and deleted.
func TestTheLifeOfARun(t *testing.T) {
	server, dir, suite := fake(t), t.TempDir(), sums(t, 24)
	for _, model := range []string{"good", "weak"} {
		tell(t.Context(), dir, "eval", "--model", model, "--ollama", server.URL, "--suite", suite, "--run", model).expect(t, exitDone, "RESULT", model+" passes", "calls at random", "oracle", "HOW IT WAS RUN")
	}
	server.Close()
	tell(t.Context(), dir, "runs").expect(t, exitDone, "good", "weak", "24/24")
	tell(t.Context(), dir, "compare", "weak", "good").expect(t, exitDone, "good is better: good passes 100.0 %")
	comparison := tell(t.Context(), dir, "compare", "weak", "good", "--json")
	comparison.expect(t, exitDone, `"significant":true`, `"better":"good"`, `"test":"mcnemar"`)
	tell(t.Context(), dir, "compare", "good", "good").expect(t, exitDone, "No difference")
	tell(t.Context(), dir, "show", "weak", "sums/sum_3").expect(t, exitDone, "user: add 3 and 4", "trial 0", "call add")
	page := filepath.Join(dir, "page.html")
	for format, mark := range map[string]string{"md": "# weak", "html": "<svg", "json": `"summary"`, "junit": "<testsuites", "text": "RESULT"} {
		tell(t.Context(), dir, "report", "weak", "--format", format, "-o", page).expect(t, exitDone)
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), mark) {
			t.Errorf("%s: %v", format, err)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(tell(t.Context(), dir, "report", "weak", "--format", "csv").out)).ReadAll()
	if err != nil || len(rows) != 25 {
		t.Errorf("%d rows of CSV, %v", len(rows), err)
	}
	if lines := strings.Count(tell(t.Context(), dir, "runs", "export", "weak", "-").out, "\n"); lines != 25 {
		t.Errorf("%d lines of export", lines)
	}
	tell(t.Context(), dir, "runs", "delete", "weak").expect(t, exitDone)
	tell(t.Context(), dir, "report", "weak").expect(t, exitUsage, `no run "weak"`, `such as "good"`)
}

func TestFailUnder(t *testing.T) {
	server, dir, suite := fake(t), t.TempDir(), sums(t, 6)
	play := func(model, least string) told {
		return tell(t.Context(), dir, "eval", "--model", model, "--ollama", server.URL, "--suite", suite, "--fail-under", least, "--run", model+least)
	}
	play("good", "0.9").expect(t, exitDone)
	play("weak", "0.9").expect(t, exitThreshold, "is below 0.9")
	play("weak", "0").expect(t, exitDone)
	play("good", "90").expect(t, exitUsage, "between 0 and 1")
}

func TestEvalRefuses(t *testing.T) {
	server, dir, suite := fake(t), t.TempDir(), sums(t, 2)
	broken := filepath.Join(dir, "broken.jsonl")
	text, err := os.ReadFile(suite)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, append(text, "{\n"+string(text)...), 0o600); err != nil {
		t.Fatal(err)
	}
	tell(t.Context(), dir, "eval", "--model", "good", "--ollama", server.URL, "--suite", suite, "--run", "old").expect(t, exitDone)
	tests := []struct {
		name string
		code int
		want string
		args []string
	}{
		{"no model", exitUsage, "--model: missing", []string{"--ollama", server.URL}},
		{"an unknown model", exitOutside, "good:latest", []string{"--model", "nosuch", "--ollama", server.URL}},
		{"a model without tools", exitUsage, "--route raw", []string{"--model", "plain", "--ollama", server.URL}},
		{"nobody listens", exitOutside, "ollama serve", []string{"--model", "good", "--ollama", "http://127.0.0.1:1"}},
		{"https in place of http", exitOutside, "http:// in place of https://", []string{"--model", "good", "--ollama", strings.Replace(server.URL, "http:", "https:", 1)}},
		{"no address", exitUsage, "--ollama: invalid address \"localhost\"", []string{"--model", "good", "--ollama", "localhost"}},
		{"a server twice", exitUsage, "named twice", []string{"--model", "good", "--ollama", server.URL, "--ollama", server.URL}},
		{"two kinds of server", exitUsage, "one or the other", []string{"--model", "good", "--ollama", server.URL, "--openai", server.URL}},
		{"an unknown route", exitUsage, `--route: unknown route "side"; expected chat, raw, both or agent`, []string{"--model", "good", "--ollama", server.URL, "--route", "side"}},
		{"a billion tasks", exitUsage, "-n: 1000000000 tasks", []string{"--model", "good", "--ollama", server.URL, "-n", "1000000000"}},
		{"years of patience", exitUsage, "--timeout: ", []string{"--model", "good", "--ollama", server.URL, "--timeout", "1000000000"}},
		{"an unknown environment", exitUsage, "arithmetic", []string{"--model", "good", "--ollama", server.URL, "--env", "chess"}},
		{"an unknown level", exitUsage, "restraint", []string{"--model", "good", "--ollama", server.URL, "--level", "17"}},
		{"no suite", exitUsage, "no such file", []string{"--model", "good", "--ollama", server.URL, "--suite", "nosuch.jsonl"}},
		{"a broken suite", exitUsage, "line 3", []string{"--model", "good", "--ollama", server.URL, "--suite", broken}},
		{"a name that is taken", exitUsage, "--resume", []string{"--model", "good", "--ollama", server.URL, "--suite", suite, "--run", "old"}},
		{"going on with other settings", exitUsage, "began with 1, not 3", []string{"--resume", "--run", "old", "--trials", "3"}},
		{"going on with nothing", exitUsage, `no run "none"`, []string{"--resume", "--run", "none"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := tell(t.Context(), dir, append([]string{"eval"}, test.args...)...)
			got.expect(t, test.code, test.want)
			if strings.Count(got.err, "\n") != 1 {
				t.Errorf("the error is not one line: %q", got.err)
			}
		})
	}
}

func TestEvalStopsAndGoesOn(t *testing.T) {
	server, dir, suite := fake(t), t.TempDir(), sums(t, 8)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as early as can be: the servers can't even be asked
	tell(ctx, dir, "eval", "--model", "weak", "--ollama", server.URL, "--suite", suite, "--run", "r").expect(t, exitOutside)
	got := tell(t.Context(), dir, "eval", "--resume", "--model", "weak", "--ollama", server.URL, "--suite", suite, "--run", "r", "--json")
	got.expect(t, exitDone, `"trials":8`)
	asked := server.asked.Load()
	tell(t.Context(), dir, "eval", "--resume", "--run", "r").expect(t, exitDone, "weak passes")
	if server.asked.Load() != asked {
		t.Error("a run that is whole asked the model again")
	}
	server.digest.Store("ee11bb22cc33dd44")
	tell(t.Context(), dir, "eval", "--resume", "--run", "r").expect(t, exitUsage, "has changed since the run r began")
}

// A server that is down for good costs one failure a trial, and the run can be
// gone on with when it is back.
func TestAServerThatIsDown(t *testing.T) {
	server, dir := fake(t), t.TempDir()
	got := tell(t.Context(), dir, "eval", "--model", "down", "--ollama", server.URL, "--suite", sums(t, 2), "--run", "r")
	got.expect(t, exitOutside, "the server failed in 2 of 2 trials; when it works, go on with toolgym eval --resume --run r --data "+quote(dir), "is not given: only 0 of 2")
	tell(t.Context(), dir, "runs").expect(t, exitDone, "0/2")
}

// A server that goes down in the middle leaves no success rate, and an exit code
// that says whose fault that is.
func TestAServerThatGoesDown(t *testing.T) {
	server, dir := fake(t), t.TempDir()
	server.lasts.Store(3)
	got := tell(t.Context(), dir, "eval", "--model", "good", "--ollama", server.URL, "--suite", sums(t, 6), "--run", "r", "--fail-under", "0.5")
	got.expect(t, exitOutside, "the server failed in 3 of 6 trials", "is not given: only 3 of 6")
	server.lasts.Store(0)
	tell(t.Context(), dir, "eval", "--resume", "--run", "r").expect(t, exitDone, "good passes 100.0 %")
}

func TestDryRun(t *testing.T) {
	server, dir := fake(t), t.TempDir()
	got := tell(t.Context(), dir, "eval", "--dry-run", "--model", "good", "--ollama", server.URL, "-n", "2", "--level", "0", "--env", "arithmetic")
	got.expect(t, exitDone, "2 tasks, each solved by its reference", "hides", "additionalProperties", "the template of good:latest", "<user>")
	if server.asked.Load() != 0 {
		t.Error("a dry run asked the model")
	}
	broken := filepath.Join(dir, "broken.jsonl")
	if err := os.WriteFile(broken, []byte("{\n[]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tell(t.Context(), dir, "eval", "--dry-run", "--suite", broken).expect(t, exitUsage, "line 1", "line 2", "2 lines cannot be used")
}

func TestModels(t *testing.T) {
	server := fake(t)
	tell(t.Context(), t.TempDir(), "models", "--ollama", server.URL).expect(t, exitDone, "good:latest", "2048", "hermes", "yes", "1.2 MB")
	var listed struct {
		Models []struct {
			Name   string `json:"name"`
			Tools  bool   `json:"tools"`
			Family string `json:"family_hint"`
		} `json:"models"`
	}
	got := tell(t.Context(), t.TempDir(), "models", "--ollama", server.URL, "--json")
	if err := json.Unmarshal([]byte(got.out), &listed); err != nil {
		t.Fatal(err)
	}
	if len(listed.Models) != 4 || !listed.Models[0].Tools || listed.Models[3].Tools || listed.Models[0].Family != "hermes" {
		t.Errorf("%+v", listed)
	}
	tell(t.Context(), t.TempDir(), "models", "--ollama", "http://127.0.0.1:1").expect(t, exitOutside, "--ollama: ", "ollama serve")
}

// What speaks as Ollama does may tell no digest.
func TestModelsWithoutDigests(t *testing.T) {
	mux := http.NewServeMux()
	for pattern, body := range map[string]string{"GET /api/version": `{"version":"1"}`, "GET /api/tags": `{"models":[{"name":"m"},{"name":"n","digest":"abc"}]}`, "POST /api/show": `{}`} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	tell(t.Context(), t.TempDir(), "models", "--ollama", server.URL).expect(t, exitDone, "m ", "n      abc")
}

func TestADatabaseThatCanNotBeRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "toolgym.db"), slices.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	tell(t.Context(), dir, "runs").expect(t, exitOutside, "damaged", "another --data folder")
}

// The two tiny models on a real server: the one that was trained to the end is
// better, and the comparison says so.
func TestStrongerModel(t *testing.T) {
	server, dir := ollamatest.Start(t), t.TempDir()
	for _, model := range []string{ollamatest.Base, ollamatest.Tools} {
		tell(t.Context(), dir, "eval", "--model", model, "--ollama", server.URL, "--level", "0", "--level", "1", "-n", "6", "--run", model).expect(t, exitDone)
	}
	tell(t.Context(), dir, "compare", ollamatest.Base, ollamatest.Tools, "--json").expect(t, exitDone, `"significant":true`, `"better":"tiny-tools"`)
}

// A suite whose tools nothing can call at random is reported in every format,
// and --dry-run says beforehand what the baseline will leave out.
func TestEvalOfAQuestionWithoutTools(t *testing.T) {
	server, dir := fake(t), t.TempDir()
	path := filepath.Join(t.TempDir(), "bare.jsonl")
	if err := os.WriteFile(path, []byte(`{"id":"hello_0","question":"Say hello.","function":[],"ground_truth":[]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const why = "there is no tool to call"
	tell(t.Context(), dir, "eval", "--dry-run", "--suite", path).expect(t, exitDone, "left out bare/hello", why)
	tell(t.Context(), dir, "eval", "--model", "good", "--ollama", server.URL, "--suite", path, "--run", "r").expect(t, exitDone, "RESULT", why)
	for _, format := range []string{"md", "html", "json", "csv", "junit", "text"} {
		got := tell(t.Context(), dir, "report", "r", "--format", format)
		got.expect(t, exitDone)
		if !strings.Contains(strings.ReplaceAll(got.out, "\n", " "), why) {
			t.Errorf("%s does not give the reason:\n%s", format, got.out)
		}
	}
}

// Credentials in the address of a server are used, and neither reported, kept
// nor exported; a redirect is named, and not followed.
func TestEvalOfAnUntrustedServer(t *testing.T) {
	server, dir := fake(t), t.TempDir()
	var with, without int
	guard := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); ok && user == "me" && password == "hunter2" {
			with++
		} else {
			without++
		}
		if r.URL.Path == "/api/chat" {
			http.Redirect(w, r, server.URL+"/api/chat", http.StatusTemporaryRedirect)
			return
		}
		server.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(guard.Close)
	address := strings.Replace(guard.URL, "//", "//me:hunter2@", 1)
	said := tell(t.Context(), dir, "eval", "--model", "good", "--ollama", address, "--suite", sums(t, 2), "--run", "r")
	said.expect(t, exitOutside, "redirects to "+server.URL+"/api/chat")
	if server.asked.Load() > 0 || with == 0 || without > 0 {
		t.Errorf("asked the other address %d times; %d requests with credentials, %d without", server.asked.Load(), with, without)
	}
	all := said.out + said.err
	for _, args := range [][]string{{"runs", "export", "r", "-"}, {"runs", "list", "--json"}, {"report", "r", "--format", "json"}, {"report", "r", "--format", "html"}, {"report", "r", "--format", "csv"}, {"show", "r", "sums/sum_0", "--json"}} {
		got := tell(t.Context(), dir, args...)
		got.expect(t, exitDone)
		all += got.out + got.err
	}
	if strings.Contains(all, "hunter2") {
		t.Error("the password is shown")
	}
}
