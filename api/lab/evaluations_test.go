package lab_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"toolgym/api"
	"toolgym/internal/ollamatest"
)

// begun begins an evaluation over REST and waits until it has ended.
func begun(t *testing.T, server, request string) {
	t.Helper()
	got := ask(t, http.MethodPost, server+"/v1/evals", request, sendsJSON)
	var state struct{ Run string }
	if err := json.Unmarshal([]byte(got.text), &state); err != nil || state.Run == "" {
		t.Fatal(err, got)
	}
	if events := load(t, server+"/v1/evals/"+url.PathEscape(state.Run)+"/events"); !strings.Contains(events, "event: end") {
		t.Fatalf("the evaluation never ended: %s", events)
	}
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
		if load(t, link) == "" {
			t.Errorf("%s is empty", link)
		}
	}
	b.click(".sure summary")
	b.do(chromedp.Click(`button[value="delete"]`, chromedp.NodeVisible))
	b.until(`location.pathname === "/lab/evaluations" && document.getElementById("runs").innerText.includes("Nothing has been evaluated")`)
}

// TestEvaluationIsWatched while it runs, on both pages, and ends as text.
func TestEvaluationIsWatched(t *testing.T) {
	hold := make(chan struct{})
	parrot := ollamatest.Parrot{Model: "mute:latest", Says: "<img src=x onerror=alert(1)>", Hold: hold}
	b := open(t, api.Config{Data: t.TempDir(), Ollama: []string{parrot.Serve(t)}})
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
	close(hold)
	b.until(`document.getElementById("runs").innerText.includes("done")`)
	b.visit("/lab/evaluations/watched")
	b.until(`document.querySelector(".categories pre")?.textContent.includes("<img src=x")`)
	if eval[int](b, `document.querySelectorAll("main img").length`) != 0 {
		t.Error("what the model wrote became part of the page")
	}
}
