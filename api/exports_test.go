package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/grpo/eval"
	"toolgym/internal/store"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestExportsThatFailAreNotWhole exports an evaluation whose second trial cannot be
// written: the answer has begun, and must not end as one that is whole does.
func TestExportsThatFailAreNotWhole(t *testing.T) {
	for _, test := range []struct {
		name, transcript string
		size             int
		whole            bool
	}{
		{"trials that can be written", `{}`, 10, true},
		{"a small answer", `{`, 10, false},
		{"a large answer", `{`, 4 << 20, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := t.TempDir()
			keepRun(t, filepath.Join(data, "toolgym.db"), `{"x":"`+strings.Repeat("x", test.size)+`"}`, test.transcript)
			f := serve(t, api.Config{Data: data, Specs: tools.Specs{arithmetic.Spec()}})
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/v1/evals/r/export.ndjson", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				if test.whole {
					t.Fatal(err)
				}
				return // it broke off before its head
			}
			text, err := io.ReadAll(response.Body)
			_ = response.Body.Close() // it was only read
			if whole := err == nil; whole != test.whole || whole && strings.Count(string(text), "\n") != 3 {
				t.Errorf("%d, %d bytes, error %v; want a whole answer: %t", response.StatusCode, len(text), err, test.whole)
			}
		})
	}
}

// keepRun keeps the run r of a task with a trial of each transcript.
func keepRun(t *testing.T, database string, transcripts ...string) {
	t.Helper()
	db, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	run := eval.Run{Name: "r", Created: time.Unix(1e9, 0).UTC(), Model: "m", Digest: "d", Routes: []string{"chat"}, Trials: len(transcripts),
		Options: json.RawMessage(`{}`), Tasks: []eval.RunTask{{ID: "arithmetic/0/1", Hash: "h", Document: json.RawMessage(`{}`)}}}
	if err := db.Begin(t.Context(), run, ""); err != nil {
		t.Fatal(err)
	}
	for i, transcript := range transcripts {
		r := eval.Record{Digest: "d", Options: json.RawMessage(`{}`), Started: time.Unix(1e9, 0).UTC(), Transcript: json.RawMessage(transcript)}
		r.Trial = eval.Trial{Run: "r", Model: "m", Route: "chat", Task: "arithmetic/0/1", Trial: i}
		if err := db.Keep(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOptionsNameHead asks paths for their methods: GET routes answer HEAD.
func TestOptionsNameHead(t *testing.T) {
	f := serve(t, api.Config{Data: t.TempDir()})
	for path, head := range map[string]bool{"/v1/evals": true, "/v1/envs": true, "/v1/score": false, "/": true} {
		got := f.ask("OPTIONS", path, "")
		allow := strings.Split(got.header.Get("Allow"), ", ")
		n := 0
		for _, method := range allow {
			if method == http.MethodHead {
				n++
			}
		}
		if got.status != http.StatusNoContent || (n == 1) != head || n > 1 {
			t.Errorf("%s: %d, Allow %q; want HEAD: %t", path, got.status, allow, head)
		}
		if got := f.ask("HEAD", path, ""); (got.status == http.StatusMethodNotAllowed) == head {
			t.Errorf("HEAD %s: %d; want an answer: %t", path, got.status, head)
		}
	}
}
