package parse_test

import (
	"strings"
	"testing"

	"toolgym/grpo/parse"
)

// hostile are texts that make a careless reader slow or large, each about size
// bytes long.
func hostile(size int) map[string]string {
	fill := func(part string) string { return strings.Repeat(part, size/len(part)+1) }
	texts := map[string]string{
		"brackets":              fill("["),
		"braces":                fill("{"),
		"objects in objects":    fill(`{"a":`),
		"quotes":                fill(`"`),
		"backslashes":           `<tool_call>{"name":"` + fill(`\\`),
		"one long string":       `<tool_call>{"name":"` + fill("a"),
		"one long number":       `<tool_call>{"name":` + fill("1"),
		"many values":           `<tool_call>{"name":"f","arguments":{"a":[` + fill("1,") + "0]}}</tool_call>",
		"many keys":             `<tool_call>{"name":"f","arguments":{` + fill(`"a":1,`) + "}}</tool_call>",
		"openers":               fill("<tool_call>"),
		"openers of objects":    fill("<tool_call>{"),
		"openers in strings":    fill(`<tool_call>{"a":"`),
		"openers in both":       fill(`<tool_call>["<tool_call>['`),
		"calls":                 fill(hermesCall("list_rooms", "{}") + "\n"),
		"closers":               fill("</tool_call>"),
		"reasoning openers":     fill("<think>"),
		"reasoning closers":     fill("</think>"),
		"blocks of reasoning":   fill("<think>a</think>\n"),
		"fences":                fill("```\n"),
		"fences in prose":       fill("a\n```\nb\n```\n"),
		"functions":             fill("<function=f>"),
		"parameters":            "<tool_call><function=get_forecast>" + fill("<parameter=city>"),
		"parameters by name":    "<tool_call><function=get_forecast>" + fill("<parameter=city>a</parameter>"),
		"closed functions":      fill("<function=list_rooms></function>"),
		"keys":                  "<tool_call>f" + fill("<arg_key>a</arg_key>"),
		"keys and values":       "<tool_call>f" + fill("<arg_key>a</arg_key><arg_value>"),
		"call expressions":      "[" + fill("list_rooms(), "),
		"open expressions":      fill("[list_rooms("),
		"expressions in prose":  "a " + fill("[list_rooms()] "),
		"expression lines":      fill("list_rooms()\n"),
		"bars":                  fill("<|"),
		"tokens":                fill("<|channel|>"),
		"harmony calls":         fill("<|start|>assistant<|channel|>commentary to=functions.list_rooms<|message|>{}<|call|>"),
		"harmony headers":       fill("<|start|>assistant to=functions.f "),
		"harmony messages":      fill("<|message|>"),
		"DSML":                  "<｜DSML｜tool_calls>" + fill("<｜DSML｜invoke name=\"f\">"),
		"DSML parameters":       "<｜DSML｜tool_calls><｜DSML｜invoke name=\"f\">" + fill("<｜DSML｜parameter name=\"a\" string=\"false\">[1,"),
		"sections":              fill("<|tool_calls_section_begin|>"),
		"section calls":         fill("<|tool_call_begin|>functions.f:0"),
		"deepseek":              fill("<｜tool▁call▁begin｜>f"),
		"gemma":                 fill("<|tool_call>call:f{a:"),
		"gemma texts":           `<|tool_call>call:f{a:[` + fill(`<|"|>a<|"|>,`),
		"chevrons":              fill(">>>f\n"),
		"chevron calls":         fill(">>>list_rooms\n{}\n"),
		"mistral":               fill("[TOOL_CALLS]f"),
		"mistral lists":         fill(`[TOOL_CALLS][{"name":"f"`),
		"semicolons":            fill(`{"name":"list_rooms","parameters":{}};`),
		"list of calls":         "[TOOL_CALLS][" + fill(`{"name":"list_rooms","arguments":{}},`),
		"names":                 fill("get_forecast "),
		"names as tags":         fill("<get_forecast"),
		"no UTF-8":              fill("\xff"),
		"no UTF-8 in a call":    `<tool_call>{"name":"` + fill("\xff") + `"}</tool_call>`,
		"surrogates":            `<tool_call>{"name":"` + fill(`\ud83c`) + `"}</tool_call>`,
		"Python's dictionaries": fill(`<tool_call>{'a':`),
		"blanks":                "<tool_call>" + fill(" "),
		"blanks and braces":     fill(" { "),
	}
	return texts
}

// TestHostileTexts reads them as every family: a verdict, nothing else.
// (How long that takes is measured by BenchmarkHostile.)
func TestHostileTexts(t *testing.T) {
	reader := parse.NewReader(declaredTools(t))
	for name, text := range hostile(5_000) {
		t.Run(name, func(t *testing.T) {
			for _, family := range parse.Families() {
				for _, finish := range []string{"stop", "length"} {
					got, err := reader.Read(parse.Input{Text: &text, Family: family, FinishReason: finish})
					if err != nil {
						t.Fatal(err)
					}
					checkInvariants(t, text, got)
				}
			}
		})
	}
}

func TestHundredThousandAttempts(t *testing.T) {
	reader := parse.NewReader(declaredTools(t))
	text := strings.Repeat(hermesCall("list_rooms", "{}")+"\n", 100_000)
	got, err := reader.Read(parse.Input{Text: &text, Family: parse.Hermes})
	if err != nil || got.Tier != parse.Envelope || len(got.Calls) != reader.Limits.Attempts || !got.Has(parse.DefectTooMany) {
		t.Fatalf("%d calls, tier %s, %v", len(got.Calls), got.Tier, err)
	}
}

func TestLimitsAreSettable(t *testing.T) {
	reader := parse.NewReader(declaredTools(t))
	reader.Limits.Attempts, reader.Limits.JSON.Depth = 1, 2
	rows := map[string]string{
		hermesOslo + hermesOslo: "envelope: " + forecast + " [too_many_attempts]",
		hermesCall("save_note", `{"title": "t", "body": "b", "tags": []}`):         "none: [too_deep]",
		`<tool_call>{"name": "list_rooms", "arguments": {}} {"name": "list_rooms"`: "envelope: list_rooms{} [too_many_attempts]",
	}
	for text, want := range rows {
		got, err := reader.Read(parse.Input{Text: &text, Family: parse.Hermes})
		if err != nil || summary(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", text, summary(got), err, want)
		}
	}
}

func TestMendingCanBeSwitchedOff(t *testing.T) {
	reader := parse.NewReader(declaredTools(t))
	reader.StrictSyntax = true
	text := hermesCall("list_rooms", "{},")
	got, err := reader.Read(parse.Input{Text: &text, Family: parse.Hermes})
	if err != nil || summary(got) != "none: [mending_switched_off trailing_comma]" {
		t.Errorf("got %s, %v", summary(got), err)
	}
	checkInvariants(t, text, got)
}

// BenchmarkHostile reads ten megabytes of each as auto.
func BenchmarkHostile(b *testing.B) {
	reader := parse.NewReader(declaredTools(b))
	for name, text := range hostile(10 << 20) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reader.Read(parse.Input{Text: &text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTypical reads 200 bytes of reasoning and one call.
func BenchmarkTypical(b *testing.B) {
	reader := parse.NewReader(declaredTools(b))
	text := "<think>\n" + strings.Repeat("The user asks. ", 13) + "\n</think>\n\n" + hermesCall("get_forecast", `{"city": "Oslo", "days": 2}`)
	for _, family := range []parse.Family{parse.Hermes, parse.Auto} {
		b.Run(string(family), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reader.Read(parse.Input{Text: &text, Family: family, FinishReason: "stop"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
