package parse_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

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
