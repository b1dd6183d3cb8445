package lab_test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// quoted writes a text as a literal of JavaScript.
func quoted(text string) string {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has one
	}
	return string(literal)
}

// looks holds the page that is open to what every page must: nothing too wide,
// every text legible, every control named, nothing that jumps, and no more than
// 300 kB, in three widths, light and dark. It leaves pictures behind.
func (b *browser) looks(name string, settle func()) {
	b.t.Helper()
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{375, 1280, 1920} {
			b.t.Run(fmt.Sprintf("%s %d %s", name, width, theme), func(t *testing.T) {
				one := *b
				one.t = t
				one.inspect(name, width, theme, settle)
			})
		}
	}
}

func (b *browser) inspect(name string, width int64, theme string, settle func()) {
	b.t.Helper()
	b.size(width, 900, theme)
	b.visit(eval[string](b, "location.pathname + location.search"))
	if settle != nil {
		settle()
	}
	b.shoot(fmt.Sprintf("%s-%d-%s", name, width, theme))
	if got := eval[int64](b, "document.documentElement.scrollWidth"); got > width {
		b.t.Errorf("the page is %d px wide: %s", got, eval[string](b, widest))
	}
	for _, pale := range eval[[]string](b, contrasts) {
		b.t.Error("contrast: " + pale)
	}
	for _, control := range eval[[]string](b, nameless) {
		b.t.Error("a control without a name: " + control)
	}
	if shift := eval[float64](b, shifts); shift > 0.01 {
		b.t.Errorf("the layout shifts by %.3f", shift)
	}
	if weight := eval[int](b, weight); weight > 300_000 {
		b.t.Errorf("the page weighs %d bytes", weight)
	}
	b.t.Logf("%d bytes", eval[int](b, weight))
	b.t.Logf("first paint after %.0f ms", eval[float64](b, `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0`))
}

// widest names the elements that stick out.
const widest = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
	.slice(0, 5).map(e => e.tagName + "." + e.className + "#" + e.id).join(", ")`

// contrasts lists the texts under WCAG's AA: 4.5, or 3 for large ones (section
// 1.4.3). Colours go through a canvas, so that all notations are understood.
const contrasts = `(() => {
	const context = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});
	const rgba = color => { context.clearRect(0, 0, 1, 1); context.fillStyle = color; context.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
	const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3]));
	const ground = e => { const layers = [];
		for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); layers.push(c); if (c[3] === 1) break; }
		return layers.reverse().reduce((under, c) => over(c, under), [255, 255, 255]); };
	const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
		return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const pale = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const e = walker.currentNode.parentElement;
		if (!walker.currentNode.data.trim() || !e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
		if (e.closest(":disabled, [aria-hidden=true], script, style")) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize), svg = e.closest("svg");
		const under = ground(svg ? svg.parentElement : e);
		const got = ratio(over(rgba(svg ? style.fill : style.color), under), under);
		if (got < (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5))
			pale.add(e.tagName + "." + (e.className.baseVal ?? e.className) + " " + JSON.stringify(walker.currentNode.data.trim().slice(0, 30)) + " has " + got.toFixed(2));
	}
	return [...pale];
})()`

// nameless lists the controls that a screen reader could not name, and ids that
// stand twice.
const nameless = `(() => {
	const named = e => e.labels?.length || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.title;
	const bare = [...document.querySelectorAll("button, a[href], input:not([type=hidden]), select, textarea, summary")]
		.filter(e => e.checkVisibility() && !(e.matches("input, select, textarea") ? e.labels?.length || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") : named(e)));
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	return [...bare.map(e => e.outerHTML.slice(0, 120)), ...ids.filter((id, i) => ids.indexOf(id) !== i).map(id => "two elements have the id " + id)];
})()`

// shifts is the cumulative layout shift since the page was opened.
const shifts = `new Promise(done => {
	let sum = 0;
	const add = list => { for (const e of list.getEntries()) if (!e.hadRecentInput) sum += e.value; };
	const watch = new PerformanceObserver(add);
	watch.observe({type: "layout-shift", buffered: true});
	requestAnimationFrame(() => setTimeout(() => { for (const e of watch.takeRecords()) if (!e.hadRecentInput) sum += e.value; done(sum); }, 50));
})`

// weight is how many bytes the page and all that it loads have, unpacked.
const weight = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
	.filter(e => !e.name.includes("/events")).reduce((sum, e) => sum + e.decodedBodySize, 0)`
