package lab_test

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"toolgym/api"
	"toolgym/grpo"
	"toolgym/internal/ollamatest"
	"toolgym/policy/trained"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

func TestFront(t *testing.T) {
	b := open(t, api.Config{})
	for name, query := range map[string]string{
		"rollout": "", "rollout-walls": "?env=gridworld&level=3&before=random&after=random&seed=3&group=64",
	} {
		b.visit("/" + query)
		b.looks(name, nil)
	}
	run := trainedRun(t, b.url)
	for name, query := range map[string]string{"rollout-run": "?level=1&after=run:" + run, "rollout-grid": "?env=gridworld&level=0", "rollout-research": "?env=research"} {
		b.size(1280, 900, "dark")
		b.visit("/" + query)
		b.shoot(name)
	}
}

// worth is what grpo pays the trained policy for a task, by a rubric.
func worth(t *testing.T, id string, change func(map[string]grpo.Criterion)) float64 {
	t.Helper()
	specs := tools.Specs{arithmetic.Spec()}
	rubric := grpo.DefaultRubric()
	change(rubric.Criteria)
	scorer, err := grpo.NewScorer(specs, rubric)
	if err != nil {
		t.Fatal(err)
	}
	spec, task, err := specs.Task(id)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := trained.Agent(spec)
	if err != nil {
		t.Fatal(err)
	}
	trajectory, err := tools.Rollout(context.Background(), spec.New(), task, agent)
	if err != nil {
		t.Fatal(err)
	}
	completion, err := grpo.FromTrajectory(trajectory)
	if err != nil {
		t.Fatal(err)
	}
	response, err := scorer.Score(t.Context(), grpo.Request{Groups: []grpo.Group{{ID: "x", TaskID: id, Completions: []grpo.Completion{completion}}}})
	if err != nil {
		t.Fatal(err)
	}
	return *response.Groups[0].Completions[0].Reward
}

// TestSlidersScoreAgain moves a slider, and reads the reward that grpo gives.
func TestSlidersScoreAgain(t *testing.T) {
	b := open(t, api.Config{})
	b.size(1280, 900, "light")
	b.visit("/?level=2&seed=5")
	shows := func(value float64) string {
		return `Math.abs(parseFloat(document.querySelector("#reward-after").innerText.replace("−", "-")) - ` + strconv.FormatFloat(value, 'g', -1, 64) + `) < 0.0006`
	}
	b.until(shows(worth(t, "arithmetic/2/5", func(map[string]grpo.Criterion) {})))
	before := b.text("#reward-before")
	b.set("#completion", "4.25")
	b.set("#length", "-0.3")
	b.until(shows(worth(t, "arithmetic/2/5", func(c map[string]grpo.Criterion) {
		done, length := c[grpo.CriterionCompletion], c[grpo.CriterionLength]
		done.Weight, length.Weight = 4.25, -0.3
		c[grpo.CriterionCompletion], c[grpo.CriterionLength] = done, length
	})))
	if got := b.text("#completion-value"); got != "+4.25" {
		t.Errorf("the slider says %s", got)
	}
	b.set("#bound", "2")
	b.until(`document.querySelector("#kl").innerText.includes("bound, 2.00")`)
	if got := b.text("#bound-value"); got != "2.00" {
		t.Errorf("the bound says %s", got)
	}
	if got := b.text("#reward-before"); got == before {
		t.Error("only one column is scored again")
	}
	query, err := url.Parse(eval[string](b, "location.href"))
	if err != nil || query.Query().Get("completion") != "4.25" || query.Query().Get("length") != "-0.3" {
		t.Errorf("the address is %v, %v", query, err)
	}
	b.do(chromedp.Click(`#published`, chromedp.NodeVisible))
	b.until(`document.querySelector("#completion-value")?.innerText === "+3.00"`)
	if got := b.text(".task"); got != "arithmetic/2/5" {
		t.Errorf("the published defaults have another task: %s", got)
	}
}

// TestStepping goes through an episode by buttons and by keys.
func TestStepping(t *testing.T) {
	b := open(t, api.Config{})
	b.size(1280, 700, "light")
	b.visit("/?env=gridworld&level=0&before=random")
	steps := eval[int](b, `Number(document.querySelector("#episodes").dataset.steps)`)
	seen := func() [2]int {
		return [2]int{eval[int](b, `[...document.querySelectorAll("[data-side=Before] .turns > li")].filter(e => e.checkVisibility({visibilityProperty: true})).length`),
			eval[int](b, `[...document.querySelectorAll("[data-side=After] .turns > li")].filter(e => e.checkVisibility({visibilityProperty: true})).length`)}
	}
	world := func() string {
		return eval[string](b, `[...document.querySelectorAll("[data-side=After] .frame")].filter(e => e.checkVisibility()).map(e => e.dataset.step + e.querySelector("figcaption").textContent).join()`)
	}
	end := world()
	if got := seen(); got[0] != steps || got[1] == 0 || got[1] >= steps {
		t.Fatalf("of %d steps %v are shown at the end", steps, got)
	}
	b.click(`[data-go="first"]`)
	if got := seen(); got != [2]int{} {
		t.Errorf("%v turns are shown at the start", got)
	}
	start := world()
	b.click(`[data-go="next"]`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	if got := seen(); got != [2]int{2, 2} {
		t.Errorf("after two steps %v are shown", got)
	}
	if !strings.HasPrefix(start, "0") || !strings.HasPrefix(world(), "2") || world()[1:] == start[1:] || end == world() {
		t.Errorf("the world is drawn as %q, %q, %q", start, world(), end)
	}
	if got := b.text("#heard"); !strings.Contains(got, "Step 2 of") || !strings.Contains(got, "Before: ") || !strings.Contains(got, "executed") {
		t.Errorf("screen readers hear %q", got)
	}
	b.do(chromedp.KeyEvent(kb.ArrowLeft))
	if got := seen(); got != [2]int{1, 1} {
		t.Errorf("one step back %v are shown", got)
	}
	b.set("#length", "0.2")
	b.until(`document.querySelector("#reward-after").innerText.includes("L:+")`)
	if got := seen(); got != [2]int{1, 1} {
		t.Errorf("after a slider has moved %v are shown", got)
	}
	b.do(chromedp.Focus("#beta"), chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.querySelector("#beta-value").innerText === "0.06"`)
	if got := seen(); got != [2]int{1, 1} {
		t.Errorf("a key that moves a slider steps as well: %v", got)
	}
}

// TestTasksAndEnvironments changes what the form reloads for, and what it does not.
func TestTasksAndEnvironments(t *testing.T) {
	b := open(t, api.Config{})
	b.size(1280, 900, "light")
	b.visit("/?level=large")
	prompt := b.text(".prompt")
	b.click("[data-another]")
	b.until(`document.querySelector(".prompt").innerText !== ` + quoted(prompt))
	b.click("[data-copy-address]")
	b.until(`document.querySelector("#status").innerText.includes("link")`)
	b.set("#env", "research")
	b.until(`document.documentElement?.dataset.ready === "true" && document.querySelector(".task")?.innerText.startsWith("research/")`)
	if got := b.text("#shown"); !strings.Contains(got, "No policy can play this task") {
		t.Error("nothing says that others stand in")
	}
	visitor{t: t, server: b.url}.sees("/?env=gridworld&level=large", "gridworld has no level large: this is its level 0.")
}

// TestMarkupIsText lets a model answer with markup.
func TestMarkupIsText(t *testing.T) {
	const hostile = `</p><script>document.title="taken"</script><img src=x onerror="document.title='taken'"><b id=own>bold</b>`
	b := open(t, api.Config{Ollama: []string{ollamatest.Parrot{Model: "says", Thinks: "thought " + hostile, Says: hostile}.Serve(t)}})
	b.size(1280, 900, "dark")
	b.visit("/?after=ollama:says")
	b.click(`button[name="play"]`)
	b.until(`document.querySelector("[data-side=After]").innerText.includes(` + quoted(hostile) + `)`)
	if got := b.text("[data-side=After] .thought"); !strings.Contains(got, "thought "+hostile) {
		t.Errorf("the thought is %q", got)
	}
	if eval[bool](b, `!!document.querySelector("#own") || document.title === "taken"`) {
		t.Error("markup is more than text")
	}
	b.shoot("rollout-model")
}

// TestWithoutScripts: the page as it is sent has everything in it.
func TestWithoutScripts(t *testing.T) {
	v := visitor{t: t, server: serve(t, api.Config{})}
	text := v.sees("/?env=gridworld&level=0", "After: Trained policy", "pickup_key", "open_door", "The agent at (4,4)", "F:+1.0 | S:+1.5 | C:+3.0 | L:−0.5", `action="/"`)
	if frames := strings.Count(text, "<svg"); frames < 11 {
		t.Errorf("%d pictures of the world", frames)
	}
	if strings.Contains(text, "style=") || strings.Contains(text, "<style") {
		t.Error("the page has styles that its policy forbids")
	}
}
