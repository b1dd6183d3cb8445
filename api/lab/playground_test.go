package lab_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"toolgym/api"
	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/tools"
)

// ground opens the playground with an example.
func ground(t *testing.T, example string) *browser {
	t.Helper()
	b := open(t, api.Config{})
	b.visit("/lab/playground?example=" + example)
	b.until(`document.documentElement.dataset.playground`)
	return b
}

// TestPlaygroundLooks like a product, with everything on it.
func TestPlaygroundLooks(t *testing.T) {
	b := ground(t, "near")
	b.looks("playground", func() {
		b.until(`document.documentElement.dataset.playground`)
		b.click("#audit")
		b.until(`document.querySelector("#attacks table")`)
	})
}

// marked is the text that stands behind the marker of a finding.
func marked(n int) string {
	return fmt.Sprintf(`document.querySelector("#mark-%d + span")?.textContent`, n)
}

// TestBrokenCompletionIsMarked where it breaks, as it is typed.
func TestBrokenCompletionIsMarked(t *testing.T) {
	b := ground(t, "right")
	const text = "So.\n<tool_call>\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Ærø\", \"days\": \"3\"}}\n</tool_call>"
	b.set("#text", text)
	b.until(marked(3) + ` === '"3"'`)
	if got := eval[string](b, `document.querySelector("#marked code").textContent`); got != text {
		t.Errorf("the marked text is %q", got)
	}
	if got := b.text("#finding-3"); !strings.Contains(got, "line 3, column 63") || !strings.Contains(got, "want integer") {
		t.Errorf("the finding says %q", got)
	}
	if kind := eval[string](b, `getComputedStyle(document.querySelector("#mark-3 + span")).textDecorationStyle`); kind != "wavy" {
		t.Errorf("the value has a %s line", kind)
	}
	b.set("#text", strings.Replace(text, `: "3"}}`, `: 3}`, 1))
	b.until(`document.querySelector("#outcome .at-lost")`)
	b.until(marked(2) + ` === "<"`)
	if got := b.text("#reward"); !strings.HasPrefix(got, "−0.05") {
		t.Errorf("it earns %q", got)
	}
}

// TestMarkupIsShownAsText, wherever it stands; the harness sees that nothing runs
// and nothing is loaded.
func TestMarkupIsShownAsText(t *testing.T) {
	b := ground(t, "right")
	const text = `<img src=x onerror="document.title='gone'"><script>document.title="gone"</script></code></pre><tool_call>{"name": "<b>f</b>", "arguments": {}}</tool_call>`
	b.set("#text", text)
	b.until(`document.querySelector("#marked code").textContent === ` + quoted(text))
	if eval[int](b, `document.querySelectorAll("main img, main b, #outcome script").length`) != 0 || eval[string](b, "document.title") == "gone" {
		t.Error("markup became part of the page")
	}
	if got := b.text("#finding-1"); !strings.Contains(got, "<b>f</b>") {
		t.Errorf("the finding says %q", got)
	}
}

// TestWeightsChangeWhatItEarns to what package grpo says.
func TestWeightsChangeWhatItEarns(t *testing.T) {
	b := ground(t, "near")
	rubric := grpo.DefaultRubric()
	rubric.Criteria[grpo.CriterionSchema] = grpo.Criterion{Weight: -2.25}
	scorer, err := grpo.NewScorer(nil, rubric)
	if err != nil {
		t.Fatal(err)
	}
	tool, err := tools.Declare("get_forecast", "", []byte(`{"type":"object","properties":{"days":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	text := eval[string](b, `document.getElementById("text").value`)
	response, err := scorer.Score(t.Context(), grpo.Request{Groups: []grpo.Group{{ID: "g", Tools: tools.Set{tool}, Completions: []grpo.Completion{{Text: &text, Family: "hermes"}},
		Expected: &match.Expected{Calls: []match.Call{{Name: "get_forecast", Arguments: []byte(`{"days":3}`)}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(fmt.Sprintf("%+.2f", *response.Groups[0].Completions[0].Reward), "-", "−", 1)
	b.set("#schema", "-2.25")
	b.until(`document.getElementById("reward").innerText.startsWith(` + quoted(want) + `)`)
	if got := eval[string](b, `location.search`); !strings.Contains(got, "schema=-2.25") {
		t.Errorf("the address has %q", got)
	}
}

// TestAttacksFollowTheWeights: a rubric that pays for calls that do not solve
// anything is found out.
func TestAttacksFollowTheWeights(t *testing.T) {
	b := ground(t, "near")
	b.click("#audit")
	b.until(`document.querySelector("#attacks .verdict .good")`)
	if got := eval[int](b, `document.querySelectorAll("#attacks tbody tr").length`); got < 20 {
		t.Errorf("%d attacks", got)
	}
	b.set("#length", "0.5")
	b.set("#schema", "-3")
	b.until(`document.querySelector("#attacks .verdict .bad")`)
	if got := b.text("#attacks tbody"); !strings.Contains(got, "pays") {
		t.Errorf("the table says %q", got)
	}
}

// TestFaultsStandBesideTheirFields, and go when they are mended.
func TestFaultsStandBesideTheirFields(t *testing.T) {
	b := ground(t, "right")
	b.set("#tools", "[{]")
	b.until(`document.getElementById("tools-wrong").innerText.includes("line 1, column 3")`)
	if got := eval[string](b, `document.getElementById("tools").getAttribute("aria-invalid")`); got != "true" {
		t.Errorf("the field says that it is invalid: %q", got)
	}
	b.set("#from", "arithmetic/0")
	b.until(`document.getElementById("expected-wrong").innerText.includes("get_forecast")`)
	if eval[bool](b, `document.getElementById("tools").checkVisibility()`) {
		t.Error("the pasted tools are shown beside an environment's")
	}
	b.set("#expected", "")
	b.set("#task", "arithmetic/0/17")
	b.until(`!document.querySelector("#outcome .alert") && document.getElementById("outcome").innerText.includes("9*3+7")`)
	if got := eval[int](b, `document.querySelectorAll(".fault:not([hidden])").length`); got != 0 {
		t.Errorf("%d faults stay", got)
	}
}

// TestTooMuchTextIsRefusedInWords.
func TestTooMuchTextIsRefusedInWords(t *testing.T) {
	b := open(t, api.Config{MaxBody: 64 << 10})
	b.visit("/lab/playground")
	b.wrong.expect("status of 413")
	eval[bool](b, `(() => { document.getElementById("text").value = "x".repeat(3 << 20); return true })()`)
	b.do(chromedp.Click(`#play button.primary`, chromedp.NodeVisible))
	b.until(`document.getElementById("status").innerText.includes("over 64 KiB")`)
}
