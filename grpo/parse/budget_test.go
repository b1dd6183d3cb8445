package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo/parse"
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
