package parse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// TestBudgetExhausted reads texts that would have to be read again and again:
// each gets a verdict that says so, and what was read before counts.
func TestBudgetExhausted(t *testing.T) {
	fill := func(part string) string { return strings.Repeat(part, 200_000/len(part)+1) }
	openers := "<tool_call>f" + fill("<arg_key>a</arg_key><arg_value><tool_call>f<arg_key>b</arg_key><arg_value>x</arg_value>")
	rows := []struct {
		name, text string
		family     parse.Family
		want       string
	}{
		{"an opener in every value", openers, parse.GLM45, "none: [missing_close_tag too_much_work]"},
		{"behind a call that counts", "<tool_call>g\n</tool_call>" + openers, parse.GLM45, "envelope: g{} [missing_close_tag too_much_work]"},
		{"in a fence", "```\n" + openers + "\n```", parse.GLM45, "none: [missing_close_tag too_much_work]"},
		{"in reasoning that never closes", "<think>" + openers, parse.GLM45, "none: [call_in_reasoning reasoning_unclosed too_much_work]"},
		{"in reasoning", "<think>" + openers + "</think>Hello.", parse.GLM45, "answer: [too_much_work]"},
	}
	reader := growthReader(t, true)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, err := reader.Read(parse.Input{Text: &r.text, Family: r.family})
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(got); got != r.want {
				t.Errorf("\n got %.300s\nwant %s", got, r.want)
			}
			checkInvariants(t, r.text, got)
		})
	}
}

// TestOrdinaryTextsAreFarFromTheBudget reads long texts in the form of every
// family, as that family and as auto.
func TestOrdinaryTextsAreFarFromTheBudget(t *testing.T) {
	reader := parse.NewReader(declaredTools(t))
	prose := strings.Repeat("Let me see what the forecast for Oslo says, and which rooms are free. ", 3) + "\n"
	for _, n := range natives() {
		for name, text := range map[string]string{
			"calls":           strings.Repeat(n.two+"\n", 500),
			"prose and calls": strings.Repeat(prose+n.one+"\n"+prose+n.two+"\n", 100),
			"cut calls":       strings.Repeat(prose+n.cut+"\n", 100),
			"reasoning":       "<think>\n" + strings.Repeat(prose, 100) + "</think>\n" + n.one,
		} {
			for _, family := range []parse.Family{n.family, parse.Auto} {
				if total, _ := reader.Work(t.Context(), parse.Input{Text: &text, Family: family}); total > 4*len(text)+1<<14 {
					t.Errorf("%s, %s as %s: %d bytes looked at in a text of %d", n.family, name, family, total, len(text))
				}
			}
		}
	}
}

// TestLongTextsKeepTheirVerdict compares short and long texts of one kind: work
// that is remembered and not done again does not exhaust the budget.
func TestLongTextsKeepTheirVerdict(t *testing.T) {
	reader := growthReader(t, true)
	for name, chain := range chains() {
		switch name {
		case "openers in values", "functions in values", "invokes in values":
			continue // what TestBudgetExhausted is about
		case "names joined":
			continue // what TestAttemptsAreBounded is about
		}
		t.Run(name, func(t *testing.T) {
			short, long := chain(2_000), chain(200_000)
			want, err := reader.Read(parse.Input{Text: &short})
			if err != nil {
				t.Fatal(err)
			}
			got, err := reader.Read(parse.Input{Text: &long})
			if err != nil || got.Tier != want.Tier || got.Has(parse.DefectTooMuchWork) {
				t.Errorf("%s when short, and %s %s when long, %v", want.Tier, got.Tier, got.Defects, err)
			}
			checkInvariants(t, long, got)
		})
	}
}

// TestAttemptsAreBounded reads more calls than there may be attempts, in forms
// whose calls are read in different loops.
func TestAttemptsAreBounded(t *testing.T) {
	reader := growthReader(t, true)
	reader.Limits.Attempts = 3
	fill := func(part string) string { return strings.Repeat(part, 10) }
	object := `{"name":"f","arguments":{}}`
	texts := map[string]string{
		"functions in one tag":   "<tool_call>" + fill("<function=f></function>") + "</tool_call>",
		"names joined":           fill("f\n{}<|assistant|>") + "f\n{}",
		"fences":                 fill("```json\n" + object + "\n```\n"),
		"objects in a tag":       "<tool_call>" + fill(object),
		"tags":                   fill("<tool_call>" + object + "</tool_call>\n"),
		"reasoning":              "<think>" + fill("<tool_call>"+object+"</tool_call>\n"),
		"reasoning in two parts": "<think>" + fill("<tool_call>"+object+"</tool_call>\n") + "</think><think>" + fill("<tool_call>"+object+"</tool_call>\n"),
		"lines":                  fill("f()\n"),
		"a list":                 "[" + fill("f(), ") + "f()]",
		"semicolons":             fill(object + ";"),
		"sections":               "<|tool_calls_section_begin|>" + fill("<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"),
		"invokes":                "<｜DSML｜tool_calls>" + fill("<｜DSML｜invoke name=\"f\"></｜DSML｜invoke>"),
		"deepseek":               "<｜tool▁calls▁begin｜>" + fill("<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>"),
		"harmony":                fill("<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>"),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			got, err := reader.Read(parse.Input{Text: &text})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(got.Attempts); n > reader.Limits.Attempts+1 {
				t.Errorf("%d attempts", n)
			}
			if last := len(got.Attempts) - 1; last < 0 || got.Attempts[last].Status == parse.StatusOK {
				t.Errorf("the last attempt counts, or there is none: %s", summary(got))
			}
			checkInvariants(t, text, got)
		})
	}
	message := fmt.Appendf(nil, `{"tool_calls":[%s0]}`, fill(`{"function":{"name":"f"}},`))
	if got, err := reader.Read(parse.Input{Message: message}); err != nil || len(got.Attempts) != 4 || !got.Has(parse.DefectTooMany) {
		t.Errorf("%d attempts in a message, %v", len(got.Attempts), err)
	}
}

// TestUndoneReadingKeepsUsedMemoryApart reads texts into memory that holds
// objects to be used again. The first object is read twice, once in vain: an
// object that was filled then must not be filled again.
func TestUndoneReadingKeepsUsedMemoryApart(t *testing.T) {
	reader := growthReader(t, true)
	call := `{"name":"f","arguments":{"a":1}}`
	text := call + " and " + hermesCall("f", `{"b":[]}`)
	in := parse.Input{Text: &text, Family: parse.Hermes}
	want, err := reader.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	var used parse.Reading
	many := strings.Repeat(hermesCall("f", `{"a":1}`), 8)
	for range 3 {
		if err := reader.ReadInto(t.Context(), &used, parse.Input{Text: &many, Family: parse.Hermes}); err != nil {
			t.Fatal(err)
		}
		if err := reader.ReadInto(t.Context(), &used, in); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, used, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestNestedMessages reads an answer within an answer within an answer: the depth
// to which messages are looked for is bounded, since each is decoded once more.
func TestNestedMessages(t *testing.T) {
	nest := func(depth int) string {
		return strings.Repeat(`{"message":`, depth) + `{"content":"x"}` + strings.Repeat("}", depth)
	}
	for depth, want := range map[int]string{0: "x", 1: "x", 2: "x", 3: "", 100: ""} {
		got, err := growthReader(t, false).Read(parse.Input{Message: []byte(nest(depth))})
		if err != nil || got.Content != want {
			t.Errorf("depth %d: got %q, %v", depth, got.Content, err)
		}
	}
}

// TestFencesInFences unwraps fences within fences, up to a bounded depth.
func TestFencesInFences(t *testing.T) {
	reader := growthReader(t, true)
	for depth, want := range map[int]parse.Tier{1: parse.Envelope, 2: parse.Envelope, 4: parse.Envelope, 6: parse.Answer} {
		text := strings.Repeat(" ```\n", depth) + `{"name":"f","arguments":{}}`
		got, err := reader.Read(parse.Input{Text: &text})
		if err != nil || got.Tier != want {
			t.Errorf("depth %d: %s, %v", depth, got.Tier, err)
		}
	}
}

// doubling is a schema that applies itself twice to an argument, so that each
// level of the arguments takes twice the steps of the one before.
const doubling = `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`

func doublingReader(t *testing.T) *parse.Reader {
	t.Helper()
	tool, err := tools.Declare("f", "", json.RawMessage(doubling))
	if err != nil {
		t.Fatal(err)
	}
	return parse.NewReader(tools.Set{tool})
}

func nested(depth int) string {
	return fmt.Sprintf("<tool_call>\n{\"name\":\"f\",\"arguments\":%s}\n</tool_call>", strings.Repeat(`{"a":`, depth)+"{}"+strings.Repeat("}", depth))
}

// Arguments that take too many steps to be checked are a failure of the harness,
// and nothing is said about whether they are valid.
func TestArgumentsThatTakeTooManySteps(t *testing.T) {
	reader := doublingReader(t)
	reader.Limits.Steps = tools.MaxSteps / 10
	for _, test := range []struct {
		name, text string
		failed     string
	}{
		{"few steps", nested(10), ""},
		{"too many steps", nested(40), "attempt 0"},
		{"too many of one attempt among others", nested(10) + nested(40) + nested(11), "attempt 1"},
		{"too many of all attempts together", strings.Repeat(nested(12), 60), "attempt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := reader.Read(parse.Input{Text: &test.text, Family: parse.Hermes})
			if err != nil {
				t.Fatal(err)
			}
			if test.failed == "" {
				if got.Failure != nil || got.SchemaValid == nil || !*got.SchemaValid {
					t.Errorf("failure %v, valid %v", got.Failure, got.SchemaValid)
				}
				return
			}
			if got.Failure == nil || got.Failure.Kind != "harness" || !strings.Contains(got.Failure.Reason, test.failed) || !strings.Contains(got.Failure.Reason, "steps") {
				t.Fatalf("failure %v", got.Failure)
			}
			if got.SchemaValid != nil {
				t.Errorf("the schema is said to be kept: %v", *got.SchemaValid)
			}
		})
	}
}

// What an argument's schema admits is found out once, however long its list of
// values is and however often the argument comes.
func TestKindsOfManyArguments(t *testing.T) {
	values := strings.TrimSuffix(strings.Repeat(`"x",`, 9000), ",")
	tool, err := tools.Declare("f", "", json.RawMessage(`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/v"},{"$ref":"#/$defs/v"}]}},"$defs":{"v":{"enum":[`+values+`]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("<tool_call>\n<function=f>\n<parameter=a>\n12\n</parameter>\n</function>\n</tool_call>\n", 2000)
	got, err := parse.NewReader(tools.Set{tool}).Read(parse.Input{Text: &text, Family: parse.Qwen3Coder})
	if err != nil || len(got.Calls) != 2000 || string(got.Calls[1999].Arguments) != `{"a":"12"}` {
		t.Fatalf("%d calls, %v", len(got.Calls), err)
	}
}

// Reading, and the checking of arguments after it, end with the context.
func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := strings.Repeat("<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n", 1000)
	reader := doublingReader(t)
	whole, _ := reader.Work(t.Context(), parse.Input{Text: &text, Family: parse.Hermes})
	if ended, _ := reader.Work(ctx, parse.Input{Text: &text, Family: parse.Hermes}); ended > whole/100 {
		t.Errorf("%d bytes were looked at after the context's end; want at most a hundredth of %d", ended, whole)
	}
	content := fmt.Sprintf(`{"role":"assistant","content":%q}`, text)
	for name, in := range map[string]parse.Input{
		"text":    {Text: &text},
		"message": {Message: json.RawMessage(content)},
		"calls":   {Message: json.RawMessage(`{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a":{}}}}]}`)},
		"stream":  {Stream: []json.RawMessage{json.RawMessage(`{"message":` + content + `,"done":true}`)}},
	} {
		var got parse.Reading
		if err := reader.ReadInto(ctx, &got, in); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got error %v; want the context's", name, err)
		}
		if err := reader.ReadInto(t.Context(), &got, in); err != nil || got.Failure != nil || len(got.Calls) == 0 {
			t.Errorf("%s, with a context that goes on: %d calls, failure %v, error %v", name, len(got.Calls), got.Failure, err)
		}
	}
}

// markers are what the readers look for: the openers, closers and special tokens
// of every family, marks of reasoning, fences, brackets, quotes, and the starts
// of calls.
func markers() []string {
	return []string{
		"<tool_call>", "</tool_call>", "<function=f>", "<function=", "</function>", "<parameter=a>", "</parameter>",
		"<arg_key>", "</arg_key>", "<arg_key>a", "<arg_value>", "</arg_value>", "<function_calls>", "</function_calls>",
		"<|python_tag|>", "<|python_start|>", "<|python_end|>", "<|tool_call_start|>", "<|tool_call_end|>", "<|tool_call|>",
		"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "functools[", ">>>", ">>>f\n", ">>>all\n", "<|START_ACTION|>", "<|END_ACTION|>",
		"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<|tool▁call▁begin|>",
		"<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>", `<｜DSML｜invoke name="f">`, "</｜DSML｜invoke>",
		`<｜DSML｜parameter name="a" string="false">`, "</｜DSML｜parameter>", `<|DSML|invoke name="f">`,
		"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "functions.f:0",
		"<|tool_call>", "<tool_call|>", `<|"|>`, "call:f{", "a:", "<start_function_call>", "<end_function_call>", "<escape>",
		"<|start|>assistant", "<|channel|>", "analysis", "commentary", " to=functions.f", "<|constrain|>json", "<|message|>", "<|call|>",
		"<|end|>", "<|return|>", "<tools>", "</tools>", "<function>", "<tool_calls>", "<|x|>", "<f>", "name=\"f\"", "Action: f\n",
		"<think>", "</think>", "<think></think>", "[THINK]", "[/THINK]", "<|START_THINKING|>", "<|END_THINKING|>",
		"<tool_response>", "<|im_start|>tool", "<|im_end|>", "<|assistant|>", "```", "```json\n", "\n```\n", " ```\n",
		"{", "}", "[", "]", "(", ")", ",", ";", ":", "=", `"`, "'", `\`, "f(", "g()", "f(a=1)", "f\n", "[f(a=1), ", "[f(a=", "[f(a='",
		`{"name":"f","arguments":{}}`, `{"name":"f","arguments":`, `{"a":`, "{'a':", `"a":`, "1,", "True", "1", "a", "\xff", `\ud83c`, " ", "\n", "<", "<|", "|>", "_",
	}
}

// core are the markers that are put together with all others.
func core() []string {
	return []string{"<tool_call>", "<arg_key>", "<|tool_call|>", "```", "<think>", "[f(a=1), ", "{", `"`, "\n", "a"}
}

// shape puts two markers together to a text of about size bytes.
type shape struct {
	name string
	text func(a, b string, size int) string
}

func shapes() []shape {
	fill := func(part string, size int) string { return strings.Repeat(part, size/len(part)+1) }
	return []shape{
		{"alternating", func(a, b string, size int) string { return fill(a+b, size) }},
		{"opened once", func(a, b string, size int) string { return a + fill(b, size) }},
		{"halves", func(a, b string, size int) string { return fill(a, size/2) + fill(b, size/2) }},
		{"nested", func(a, b string, size int) string { return fill(a, size/3) + "x" + fill(b, size/3) + fill(a+b, size/3) }},
	}
}

// chains are texts that were found to make an earlier version slow, and others
// of their kinds: what is read from one opener holds the next one.
func chains() map[string]func(size int) string {
	fill := func(part string, size int) string { return strings.Repeat(part, size/len(part)+1) }
	unit := func(prefix, part string) func(int) string {
		return func(size int) string { return prefix + fill(part, size) }
	}
	return map[string]func(size int) string{
		"lists behind brackets":      unit("[[", "[f(a=1), "),
		"lists behind prose":         unit("a ", "[f(a=1), "),
		"keys without lines":         unit("", "<arg_key>a"),
		"fences in one line":         unit("a", "```"),
		"indented fences":            unit("", " ```\n"),
		"indented fences in a fence": unit("```\n", " ```\n"),
		"names in fences":            unit("", "a\n```\n<f>\n```\n"),
		"calls in fences":            unit("", "```json\n"+`{"name":"f","arguments":{}}`+"\n```\n"),
		"fences without lines":       unit("", "<tool_call>```"),
		"openers in values":          unit("<tool_call>f", "<arg_key>a</arg_key><arg_value><tool_call>f<arg_key>b</arg_key><arg_value>x</arg_value>"),
		"functions in values":        unit("<tool_call><function=f>", "<parameter=a><tool_call><function=f><parameter=b>x</parameter>"),
		"invokes in values":          unit(`<｜DSML｜tool_calls><｜DSML｜invoke name="f">`, `<｜DSML｜parameter name="a" string="true"><｜DSML｜tool_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="b">x</｜DSML｜parameter>`),
		"functions in one tag":       unit("<tool_call>", "<function=f></function>"),
		"names joined":               unit("", "f\n{}<|assistant|>"),
		"parameters before blanks": func(size int) string {
			return "<tool_call><function=f>" + fill("\n<parameter=a>", size/2) + "</function>" + fill(" ", size/2) + "</parameter>"
		},
		"blanks before markers":       func(size int) string { return fill(" ", size/2) + "a" + fill("<|tool_calls|>", size/2) },
		"blanks before fences":        func(size int) string { return fill("\n", size/2) + fill("```\na\n", size/2) },
		"reasoning that never closes": unit("<think>", `<tool_call>{"name":"f","arguments":{}}</tool_call>`),
		"blocks of reasoning":         unit("", `<think>a <tool_call>{"a":"</think>`),
		"nested functions":            unit("", `<tool_call>{"function":`),
		"strings of calls":            unit("<tools>", `[f(a="<tools>[f(b='", c='`),
		"wrong lists":                 unit("", `<|tool_call|>[g(a="<|tool_call|>[h(`),
	}
}

// growthReader has two declared tools, f and g, or none.
func growthReader(t testing.TB, declared bool) *parse.Reader {
	t.Helper()
	var set tools.Set
	if declared {
		schema := `{"type":"object","properties":{"a":{},"b":{"type":"array"}}}`
		if err := json.Unmarshal(fmt.Appendf(nil, `[{"name":"f","parameters":%s},{"name":"g","parameters":%s}]`, schema, schema), &set); err != nil {
			t.Fatal(err)
		}
	}
	return parse.NewReader(set)
}

// checkWork fails when more than a fixed number of bytes was looked at for each
// byte of a text: the budget, and what one attempt may take once it is spent.
func checkWork(t testing.TB, reader *parse.Reader, in parse.Input) {
	t.Helper()
	total, reading := reader.Work(t.Context(), in)
	if most := 28*len(*in.Text) + 1<<16; total > most {
		t.Errorf("%s: %d bytes looked at in a text of %d (%.40q …)", in.Family, total, len(*in.Text), *in.Text)
	}
	if n := len(reading.Attempts); n > reader.Limits.Attempts+1 {
		t.Errorf("%s: %d attempts", in.Family, n)
	}
}

// TestWorkIsLinear reads all markers, alone and repeated, and their pairs with
// the core, with and without declared tools.
func TestWorkIsLinear(t *testing.T) {
	t.Parallel()
	for _, declared := range []bool{true, false} {
		reader := growthReader(t, declared)
		for i, a := range markers() {
			t.Run(fmt.Sprintf("%q declared %t", a, declared), func(t *testing.T) {
				t.Parallel()
				for j, family := range parse.Families() {
					text := strings.Repeat(a, 8_000/len(a)+1)
					checkWork(t, reader, parse.Input{Text: &text, Family: family, FinishReason: []string{"stop", "length"}[(i+j)%2]})
				}
				for _, b := range core() {
					for k, s := range shapes() {
						if !declared && k > 0 {
							continue
						}
						for _, text := range []string{s.text(a, b, 5_000), s.text(b, a, 5_000)} {
							checkWork(t, reader, parse.Input{Text: &text})
						}
					}
				}
			})
		}
	}
}

// TestWorkOfChainsIsLinear reads the chains, as every family, and longer ones as
// auto. BenchmarkGrowth checks the same at the sizes of large texts.
func TestWorkOfChainsIsLinear(t *testing.T) {
	t.Parallel()
	for _, declared := range []bool{true, false} {
		reader := growthReader(t, declared)
		for name, chain := range chains() {
			t.Run(fmt.Sprintf("%s declared %t", name, declared), func(t *testing.T) {
				t.Parallel()
				for _, family := range parse.Families() {
					for _, finish := range []string{"stop", "length"} {
						text := chain(8_000)
						checkWork(t, reader, parse.Input{Text: &text, Family: family, FinishReason: finish})
					}
				}
				for _, size := range []int{1 << 16, 1 << 17, 1 << 18} {
					text := chain(size)
					checkWork(t, reader, parse.Input{Text: &text})
				}
			})
		}
	}
}

// BenchmarkGrowth reads the markers, their pairs with the core, and the chains at
// the sizes of large texts. All figures should be alike at each size: time, work
// and allocated memory for each byte of the text.
func BenchmarkGrowth(b *testing.B) {
	reader := growthReader(b, true)
	run := func(name string, text func(size int) string) {
		for _, size := range []int{1 << 20, 2 << 20, 4 << 20} {
			b.Run(fmt.Sprintf("%s/%dMB", name, size>>20), func(b *testing.B) {
				text := text(size)
				in := parse.Input{Text: &text}
				checkWork(b, reader, in)
				work, _ := reader.Work(b.Context(), in)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for b.Loop() {
					if _, err := reader.Read(in); err != nil {
						b.Fatal(err)
					}
				}
				runtime.ReadMemStats(&after)
				n := float64(b.N) * float64(len(text))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/byte")
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/n, "B/byte")
				b.ReportMetric(float64(work)/float64(len(text)), "work/byte")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
	for name, chain := range chains() {
		run("chain/"+name, chain)
	}
	for _, a := range markers() {
		run(fmt.Sprintf("marker/%q", a), func(size int) string { return strings.Repeat(a, size/len(a)+1) })
	}
	for _, a := range markers() {
		for _, c := range core() {
			for _, s := range shapes() {
				run(fmt.Sprintf("pair/%s/%q,%q", s.name, a, c), func(size int) string { return s.text(a, c, size) })
			}
		}
	}
}

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
