package lab_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"toolgym/api"
)

// begun begins an evaluation over REST and waits until it has ended.
func begun(t *testing.T, server, request string) {
	t.Helper()
	var state struct{ Run string }
	if err := json.Unmarshal([]byte(fetched(t, http.MethodPost, server+"/v1/evals", request)), &state); err != nil || state.Run == "" {
		t.Fatal(err, state)
	}
	if events := fetched(t, http.MethodGet, server+"/v1/evals/"+url.PathEscape(state.Run)+"/events", ""); !strings.Contains(events, "event: end") {
		t.Fatalf("the evaluation never ended: %s", events)
	}
}

// fetched is the answer to a request of a program, which must succeed.
func fetched(t *testing.T, method, address, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s, %v", method, address, answer.StatusCode, text, err)
	}
	return string(text)
}

// kept is a browser on a server with three evaluations.
func kept(t *testing.T) *browser {
	t.Helper()
	b := open(t, api.Config{Data: t.TempDir()})
	for _, request := range []string{
		`{"run":"first/idle","model":"idle","route":"agent","envs":["arithmetic","gridworld"],"n":4,"seed":1}`,
		`{"run":"second, at random","model":"random","route":"agent","envs":["arithmetic","gridworld"],"n":4,"seed":1,"trials":2}`,
		`{"run":"the oracle","model":"oracle","route":"agent","envs":["arithmetic","gridworld"],"n":4,"seed":1}`,
	} {
		begun(t, b.url, request)
	}
	return b
}

// TestEvaluationsLook like a product: the list with a comparison, and one.
func TestEvaluationsLook(t *testing.T) {
	b := kept(t)
	b.visit("/lab/evaluations?" + url.Values{"a": {"second, at random"}, "b": {"the oracle"}}.Encode())
	b.looks("evaluations", nil)
	b.visit("/lab/evaluations/second,%20at%20random")
	b.looks("evaluation", nil)
}

// TestTwoAreCompared, as the selects change.
func TestTwoAreCompared(t *testing.T) {
	b := kept(t)
	b.visit("/lab/evaluations")
	b.set("#a", "first/idle")
	b.set("#b", "the oracle")
	b.until(`document.querySelector("#comparison .sentence .good")`)
	if got := b.text("#comparison"); !strings.Contains(got, "the oracle is better") || !strings.Contains(got, "24 shared tasks") || !strings.Contains(got, "+100.0") {
		t.Errorf("the page says %q", got)
	}
	b.set("#b", "second, at random")
	b.until(`document.getElementById("comparison").innerText.includes("No difference")`)
	b.set("#b", "first/idle")
	b.until(`document.getElementById("comparison").innerText.includes("Choose two")`)
	if got := eval[string](b, "location.search"); !strings.Contains(got, "a=first%2Fidle") {
		t.Errorf("the address has %q", got)
	}
}

// TestEvaluationIsBegunAndDeleted by hand.
func TestEvaluationIsBegunAndDeleted(t *testing.T) {
	b := open(t, api.Config{Data: t.TempDir()})
	b.visit("/lab/evaluations")
	b.wrong.expect("status of 422")
	b.set("#model", "agent:oracle")
	b.set("#run", "by hand / 1")
	b.set("#levels", "0, 77")
	b.click(`#begin-title ~ form button.primary`)
	b.until(`document.getElementById("levels-wrong")?.innerText.includes("77")`)
	if got := eval[string](b, `document.getElementById("run").value + document.getElementById("model").value`); got != "by hand / 1agent:oracle" {
		t.Errorf("the form has forgotten: %q", got)
	}
	b.set("#levels", "0")
	b.set("#n", "3")
	b.click(`#begin-title ~ form button.primary`)
	b.until(`location.pathname === "/lab/evaluations/by%20hand%20%2F%201"`)
	b.until(`document.querySelector('[data-state="done"]') && document.getElementById("levels-title")`)
	if got := b.text("main"); !strings.Contains(got, "3 tasks, 1 trial of each") || !strings.Contains(got, "arithmetic/0") || !strings.Contains(got, "100.0 %") {
		t.Errorf("the page says %q", got)
	}
	for _, link := range eval[[]string](b, `[...document.querySelectorAll(".files a")].map(a => a.href)`) {
		if fetched(t, http.MethodGet, link, "") == "" {
			t.Errorf("%s is empty", link)
		}
	}
	b.click(".sure summary")
	b.do(chromedp.Click(`button[value="delete"]`, chromedp.NodeVisible))
	b.until(`location.pathname === "/lab/evaluations" && document.getElementById("runs").innerText.includes("Nothing has been evaluated")`)
}

// slow speaks as Ollama does, for one model that waits with its answers until it
// is let go, and writes markup.
func slow(t *testing.T) (address string, release func()) {
	t.Helper()
	hold := make(chan struct{})
	mux := http.NewServeMux()
	say := func(pattern, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) })
	}
	say("GET /api/version", `{"version":"0.0.0"}`)
	say("GET /api/tags", `{"models":[{"name":"mute:latest","digest":"aa11bb22cc33dd4400000000","size":1234567}]}`)
	say("POST /api/show", `{"template":"{{ .Prompt }}<tool_call>","capabilities":["completion","tools"],"model_info":{"llama.context_length":2048}}`)
	mux.HandleFunc("POST /api/chat", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
		_, _ = fmt.Fprint(w, `{"model":"mute","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"<img src=x onerror=alert(1)>"},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":4}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, func() { close(hold) }
}

// TestEvaluationIsWatched while it runs, on both pages, and ends as text.
func TestEvaluationIsWatched(t *testing.T) {
	address, release := slow(t)
	b := open(t, api.Config{Data: t.TempDir(), Ollama: []string{address}})
	b.visit("/lab/evaluations")
	b.set("#model", "chat:mute:latest")
	b.set("#run", "watched")
	b.set("#levels", "0")
	b.set("#n", "3")
	b.click(`#begin-title ~ form button.primary`)
	b.until(`document.querySelector('[data-state="running"]') && document.querySelector('button[value="cancel"]')`)
	b.visit("/lab/evaluations")
	if got := b.text("#runs"); !strings.Contains(got, "running") || !strings.Contains(got, "0 of 3") {
		t.Errorf("the list says %q", got)
	}
	release()
	b.until(`document.getElementById("runs").innerText.includes("done")`)
	b.visit("/lab/evaluations/watched")
	b.until(`document.querySelector(".categories pre")?.textContent.includes("<img src=x")`)
	if eval[int](b, `document.querySelectorAll("main img").length`) != 0 {
		t.Error("what the model wrote became part of the page")
	}
}
