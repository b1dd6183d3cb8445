package lab_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"toolgym/api"
)

// TestTraining trains as a person would, twice, and reads the outcome.
func TestTraining(t *testing.T) {
	b := open(t, api.Config{})
	b.visit("/lab/training")
	b.looks("training-empty", nil)
	b.size(1280, 900, "light")
	b.set("#updates", "30")
	b.click("#go")
	b.until(`document.querySelector(".plot .drawing path")`)
	b.until(`document.querySelector("#last-title [data-iteration]").textContent === "30 of 30"`)
	b.until(`document.querySelector(".runlist .badge").textContent === "done"`)
	b.looks("training-one", nil)
	b.set("#algo", "a2c")
	b.set("#updates", "40")
	b.click("#over")
	b.click("#go")
	b.until(`document.querySelectorAll(".runlist .badge.good").length === 2`)
	b.until(`document.querySelector(".runlist [data-iteration]").textContent === "40 of 40"`)
	if got := eval[int](b, `document.querySelectorAll("[data-chart=reward] [stroke='#0072B2'], [data-chart=reward] [stroke='#B34D00'][stroke-dasharray]").length`); got < 4 {
		t.Errorf("two runs have %d lines in the chart and beside it", got)
	}
	b.looks("training-two", func() { b.click("details.card summary") })
	b.size(1280, 900, "light")
	b.reads(t)
	b.takesAway(t)
	b.click(".runlist input:checked") // the newer one
	b.until(`document.querySelectorAll("[data-chart=reward] [data-reading]").length === 1`)
	if got := eval[string](b, `location.search`); strings.Count(got, "run=") != 1 {
		t.Errorf("the address is %s", got)
	}
	b.set("#bound", "1.5")
	b.until(`document.querySelector("[data-figure=kl] [data-note]").textContent === "bound 1.50 nats"`)
}

// reads points at the curves and uses the keys: what stands below them is what
// the telemetry has.
func (b *browser) reads(t *testing.T) {
	t.Helper()
	kept := map[string][]string{} // by run, the rewards of its updates
	for _, id := range eval[[]string](b, `[...document.querySelectorAll(".runlist li")].map(li => li.dataset.run).reverse()`) {
		table := eval[string](b, `fetch("/v1/policy/runs/`+id+`/telemetry.csv").then(a => a.text())`)
		for line := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
			reward, _ := strconv.ParseFloat(strings.Split(line, ",")[1], 64)
			kept[id] = append(kept[id], strings.Replace(fmt.Sprintf("%.3f", reward), "-", "−", 1)) // kept[id][0] is the heading
		}
	}
	b.until(`document.querySelectorAll("[data-chart=reward] [data-reading]").length === 2`)
	check := func(how string) int {
		t.Helper()
		at := eval[string](b, `document.querySelector("[data-chart=reward] [data-at]").textContent`)
		update, err := strconv.Atoi(strings.TrimPrefix(at, "update "))
		if err != nil {
			t.Fatalf("%s: it reads %q", how, at)
		}
		ids := eval[[]string](b, `[...document.querySelectorAll(".runlist li")].map(li => li.dataset.run).reverse()`)
		for i, got := range eval[[]string](b, `[...document.querySelectorAll("[data-chart=reward] [data-reading]")].map(e => e.textContent)`) {
			rewards := kept[ids[i]]
			if want := rewards[min(update, len(rewards)-1)]; got != want {
				t.Errorf("%s: run %s at %s has %s, want %s", how, ids[i], at, got, want)
			}
		}
		return update
	}
	b.do(chromedp.ScrollIntoView("[data-chart=reward] .plot", chromedp.NodeVisible))
	box := eval[[]float64](b, `(() => { const r = document.querySelector("[data-chart=reward] .plot").getBoundingClientRect(); return [r.left, r.top, r.width, r.height] })()`)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, box[0]+box[2]/2, box[1]+box[3]/2))
	b.until(`document.querySelector("[data-chart=reward] [data-at]").textContent.startsWith("update ")`)
	if got := check("pointing"); got < 15 || got > 25 {
		t.Errorf("in the middle of 40 updates is update %d", got)
	}
	if other := b.text(`[data-chart=kl] [data-at]`); !strings.HasPrefix(other, "update ") {
		t.Errorf("the other charts do not follow: %s", other)
	}
	b.shoot("training-hover")
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 1, 1), chromedp.Focus("[data-chart=reward] .plot"), chromedp.KeyEvent(kb.Home))
	if got := check("the home key"); got != 1 {
		t.Errorf("the home key leads to %d", got)
	}
	b.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	if got := check("the right key"); got != 3 {
		t.Errorf("twice to the right is %d", got)
	}
}

// takesAway asks for all files that the page offers.
func (b *browser) takesAway(t *testing.T) {
	t.Helper()
	kinds := eval[[]string](b, `Promise.all([...document.querySelectorAll("a[download]")].map(async a => {
		const answer = await fetch(a.href), text = await answer.text();
		return [answer.status, answer.headers.get("Content-Type"), text.includes("<svg") || text.includes("PNG") || text.split("\n").length > 30].join(" ") }))`)
	if len(kinds) != 9 {
		t.Errorf("%d files", len(kinds))
	}
	for _, kind := range kinds {
		if !strings.HasPrefix(kind, "200 ") || !strings.HasSuffix(kind, " true") {
			t.Errorf("a file answers %s", kind)
		}
	}
}

// TestTrainingIsSteered holds a run that would last for hours, lets it go on,
// stops and deletes it, and counts what reaches the page meanwhile.
func TestTrainingIsSteered(t *testing.T) {
	b := open(t, api.Config{MaxRuns: 1})
	b.size(1280, 900, "light")
	b.visit("/lab/training")
	b.set("#env", "gridworld")
	eval[bool](b, `document.querySelector("[data-env=gridworld] [value='1']").click(), true`)
	b.set("#algo", "a2c")
	b.set("#seed", "18446744073709551615")
	b.set("#updates", "many")
	b.click("#go")
	b.until(`document.querySelector("#updates[aria-invalid]")`)
	if got := b.text("#updates-wrong"); got != "“many” is not a whole number" {
		t.Errorf("the refusal says: %s", got)
	}
	b.shoot("training-refused")
	defer b.forgive("status of 422")
	b.set("#updates", "0")
	b.click("#go")
	b.until(`document.getElementById("updates-wrong").textContent.includes("want")`) // what would be right
	b.set("#updates", "1000000")
	b.click("#go")
	b.until(`document.querySelector("[data-do=pause]")`)
	if got := b.text(".runlist label"); !strings.Contains(got, "seed 18446744073709551615") {
		t.Errorf("the run is %s", got)
	}
	eval[bool](b, `(() => { window.seen = new Set(); window.drawn = new Set();
		new MutationObserver(() => {
			seen.add(document.querySelector(".runlist [data-iteration]")?.textContent);
			drawn.add(document.querySelector("[data-chart=reward] .drawing")?.innerHTML) })
			.observe(document.getElementById("view"), {childList: true, subtree: true, characterData: true}); return true })()`)
	b.until(`seen.size >= 6 && drawn.size >= 6`) // the curves move
	b.click("[data-do=pause]")
	b.until(`document.querySelector(".runlist .badge").textContent === "paused" && document.activeElement.dataset.do === "resume"`)
	id := eval[string](b, `document.querySelector(".runlist li").dataset.run`)
	b.until(`fetch("/v1/policy/runs/` + id + `").then(a => a.json()).then(run => document.querySelector("#last-title [data-iteration]").textContent === run.updates + " of 1000000")`)
	held := b.text("#last-title [data-iteration]")
	b.shoot("training-paused")
	b.click("#go")
	b.until(`document.getElementById("start-wrong").textContent.includes("limit")`)
	defer b.forgive("status of 503")
	b.click("[data-do=resume]")
	b.until(`document.querySelector(".runlist .badge").textContent === "running"`)
	b.until(`document.querySelector("#last-title [data-iteration]").textContent !== ` + quoted(held))
	b.click("[data-do=stop]")
	b.until(`document.querySelector(".runlist .badge").textContent === "cancelled"`)
	b.click("[data-do=delete]")
	b.until(`document.querySelector("[data-do=delete]").textContent === "Really delete?"`)
	b.click("[data-do=delete]")
	b.until(`document.getElementById("first")`)
	b.click("#first")
	b.until(`document.querySelector(".runlist .badge")?.textContent === "running"`)
}

// forgive takes back a complaint of the console that the test has provoked.
func (b *browser) forgive(complaint string) {
	b.t.Helper()
	b.wrong.mu.Lock()
	defer b.wrong.mu.Unlock()
	b.wrong.texts = slices.DeleteFunc(b.wrong.texts, func(text string) bool { return strings.Contains(text, complaint) })
}
