package match_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/match"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// offered are the tools of these tests: add takes two numbers, tag an array of
// strings, find a text and an optional limit with the default 10.
func offered(t testing.TB) tools.Set {
	t.Helper()
	schemas := []struct{ name, parameters string }{
		{"add", `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`},
		{"tag", `{"type":"object","properties":{"tags":{"type":"array"}},"required":["tags"]}`},
		{"find", `{"type":"object","properties":{"text":{"type":"string"},"limit":{"type":"integer","default":10}},"required":["text"]}`},
		{"list", `{"type":"object","properties":{}}`},
	}
	var set tools.Set
	for _, s := range schemas {
		tool, err := tools.Declare(s.name, "", json.RawMessage(s.parameters))
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, tool)
	}
	return set
}

func compile(t testing.TB, expected string) *match.Plan {
	t.Helper()
	plan, err := parse(t, expected)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func parse(t testing.TB, expected string) (*match.Plan, error) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(expected))
	d.DisallowUnknownFields()
	var e match.Expected
	if err := d.Decode(&e); err != nil {
		return nil, err
	}
	return e.Compile(offered(t))
}

// made reads calls written as `add {"a":1,"b":2}; list`, with a question mark
// before the name of an invalid one.
func made(t testing.TB, text string) []match.Made {
	t.Helper()
	var out []match.Made
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, arguments, _ := strings.Cut(part, " ")
		m := match.Made{Arguments: map[string]any{}}
		m.Name, m.Valid = strings.TrimPrefix(name, "?"), !strings.HasPrefix(name, "?")
		if arguments != "" {
			value, err := strictjson.Decode([]byte(arguments))
			if err != nil {
				t.Fatal(err)
			}
			m.Arguments = value.(map[string]any)
		}
		out = append(out, m)
	}
	return out
}

func TestCredit(t *testing.T) {
	const one, two, three = `add {"a":1,"b":1}`, `add {"a":2,"b":2}`, `add {"a":3,"b":3}`
	const both = `"calls":[{"name":"add","arguments":{"a":1,"b":1}},{"name":"add","arguments":{"a":2,"b":2}}]`
	tests := []struct {
		name, expected, made string
		want                 float64
	}{
		{"all made", both, one + ";" + two, 1},
		{"in another order", both, two + ";" + one, 1},
		{"in another order where it counts", both + `,"order":true`, two + ";" + one, 0},
		{"in order", both + `,"order":true`, one + ";" + two, 1},
		{"in order around an ignored call", both + `,"order":true,"extra":"allow"`, three + ";" + one + ";" + three + ";" + two, 1},
		{"one missing", both, one, 0},
		{"one made twice for two", both, one + ";" + one, 0},
		{"one extra", both, one + ";" + two + ";" + three, 0},
		{"one extra, divided", both + `,"extra":"divide"`, one + ";" + two + ";" + three, 0.5},
		{"nine extra, divided", both + `,"extra":"divide"`, one + ";" + two + strings.Repeat(";"+three, 9), 0.1},
		{"missing, however divided", both + `,"extra":"divide"`, one + ";" + three, 0},
		{"one extra, allowed", both + `,"extra":"allow"`, one + ";" + two + ";" + three, 1},
		{"a repetition is extra", both, one + ";" + two + ";" + two, 0},
		{"invalid against its schema", both, one + ";?" + two, 0},
		{"nothing made", both, "", 0},
		{"nothing made where nothing is wanted", `"calls":[]`, "", 1},
		{"a call where none is wanted", `"calls":[]`, "list", 0},
		{"calls that do not matter", `"answer":"x"`, one, 1},
		{"the same call wanted twice", `"calls":[{"name":"list"},{"name":"list"}]`, "list;list", 1},
		{"the same call wanted twice, made once", `"calls":[{"name":"list"},{"name":"list"}]`, "list", 0},
		{"another tool with these arguments", both, one + `;tag {"a":2,"b":2}`, 0},
		// The first call fits both, the second only the open one: taking the
		// first for the open one would leave the exact one without.
		{"no greedy choice", `"calls":[{"name":"find","match":{"text":{"any":true}}},{"name":"find","arguments":{"text":"x"}}]`, `find {"text":"x"};find {"text":"y"}`, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			report := compared(t, compile(t, "{"+test.expected+"}"), made(t, test.made))
			if report.Credit != test.want {
				t.Errorf("credit %v, want %v; %+v", report.Credit, test.want, report)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	tests := []struct {
		name, call, made string
		fits             bool
	}{
		{"by value", `"add","arguments":{"a":120,"b":1}`, `add {"a":120.0,"b":10e-1}`, true},
		{"zero has no sign", `"add","arguments":{"a":0,"b":1}`, `add {"a":-0.0,"b":1}`, true},
		{"beyond 2^53", `"add","arguments":{"a":9007199254740993,"b":1}`, `add {"a":9007199254740992,"b":1}`, false},
		{"text is no number", `"tag","arguments":{"tags":[5]}`, `tag {"tags":["5"]}`, false},
		{"a huge exponent", `"add","arguments":{"a":1,"b":1}`, `add {"a":1e999999999,"b":1}`, false},
		{"a further argument", `"tag","arguments":{"tags":[]}`, `tag {"tags":[],"colour":"red"}`, false},
		{"a missing argument", `"add","arguments":{"a":1,"b":1}`, `add {"a":1}`, false},
		{"the default left out", `"find","arguments":{"text":"x","limit":10}`, `find {"text":"x"}`, true},
		{"the default put in", `"find","arguments":{"text":"x"}`, `find {"text":"x","limit":10.0}`, true},
		{"no default", `"find","arguments":{"text":"x"}`, `find {"text":"x","limit":9}`, false},
		{"order inside an array", `"tag","arguments":{"tags":["a","b"]}`, `tag {"tags":["b","a"]}`, false},
		{"keys of a nested object", `"tag","arguments":{"tags":[{"x":1,"y":2}]}`, `tag {"tags":[{"y":2,"x":1}]}`, true},
		{"within the tolerance", `"add","arguments":{"a":14.17,"b":1},"match":{"a":{"tolerance":0.01}}`, `add {"a":14.18,"b":1}`, true},
		{"just outside the tolerance", `"add","arguments":{"a":14.17,"b":1},"match":{"a":{"tolerance":0.01}}`, `add {"a":14.1800000000000000000001,"b":1}`, false},
		{"the tolerance is one argument's", `"add","arguments":{"a":1,"b":1},"match":{"a":{"tolerance":0.5}}`, `add {"a":1,"b":1.5}`, false},
		{"tolerance against a bomb", `"add","arguments":{"a":1,"b":1},"match":{"a":{"tolerance":0.5}}`, `add {"a":1e999999999,"b":1}`, false},
		{"any", `"add","arguments":{"a":1,"b":1},"match":{"a":{"any":true}}`, `add {"a":77,"b":1}`, true},
		{"any must be there", `"add","arguments":{"a":1,"b":1},"match":{"a":{"any":true}}`, `add {"b":1}`, false},
		{"any may be absent where it is not given", `"find","arguments":{"text":"x"},"match":{"limit":{"any":true}}`, `find {"text":"x"}`, true},
		{"any beside the rest", `"find","arguments":{"text":"x"},"match":{"limit":{"any":true}}`, `find {"text":"y","limit":3}`, false},
		{"one of", `"find","match":{"text":{"one_of":["x","y"]}}`, `find {"text":"y"}`, true},
		{"its own or one of", `"find","arguments":{"text":"z"},"match":{"text":{"one_of":["x","y"]}}`, `find {"text":"z"}`, true},
		{"none of", `"find","match":{"text":{"one_of":["x","y"]}}`, `find {"text":"z"}`, false},
		{"one of, absent", `"find","match":{"text":{"one_of":["x"]}}`, `find {}`, false},
		{"one of or absent", `"find","match":{"text":{"one_of":["x"],"optional":true}}`, `find {}`, true},
		{"one of or absent, but another", `"find","match":{"text":{"one_of":["x"],"optional":true}}`, `find {"text":"z"}`, false},
		{"one of, by folding", `"find","match":{"text":{"one_of":["x","y"],"casefold":true}}`, `find {"text":"Y"}`, true},
		{"folding", `"find","arguments":{"text":"Straße"},"match":{"text":{"casefold":true}}`, `find {"text":"STRAßE"}`, true},
		{"no folding", `"find","arguments":{"text":"Oslo"}`, `find {"text":"oslo"}`, false},
		{"a set", `"tag","arguments":{"tags":["a","b"]},"match":{"tags":{"set":true}}`, `tag {"tags":["b","a","b"]}`, true},
		{"a set with less", `"tag","arguments":{"tags":["a","b"]},"match":{"tags":{"set":true}}`, `tag {"tags":["b"]}`, false},
		{"a set with more", `"tag","arguments":{"tags":["a"]},"match":{"tags":{"set":true}}`, `tag {"tags":["a","c"]}`, false},
		{"a set by folding", `"tag","arguments":{"tags":["a"]},"match":{"tags":{"set":true,"casefold":true}}`, `tag {"tags":["A"]}`, true},
		{"a set is an array", `"tag","arguments":{"tags":["a"]},"match":{"tags":{"set":true}}`, `tag {"tags":"a"}`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			report := compared(t, compile(t, `{"calls":[{"name":`+test.call+`}]}`), made(t, test.made))
			if got := report.Credit == 1; got != test.fits {
				t.Errorf("fits: %v, want %v", got, test.fits)
			}
		})
	}
}

func compared(t *testing.T, plan *match.Plan, made []match.Made) match.Report {
	t.Helper()
	report, err := plan.Calls(made)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// Comparing takes a bounded number of steps, the same for the same calls, and ends
// with the context.
func TestComparingIsBounded(t *testing.T) {
	numbers := func(n, from, step int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint(from + step*i)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	repeated := func(n int, item, separator string) string {
		return strings.TrimSuffix(strings.Repeat(item+separator, n), separator)
	}
	for _, test := range []struct {
		name, expected, made string
		costly               bool
	}{
		{"sets of 500", `"calls":[{"name":"tag","arguments":{"tags":` + numbers(500, 0, 1) + `},"match":{"tags":{"set":true}}}]`, `tag {"tags":` + numbers(500, 499, -1) + `}`, false},
		{"sets of 4,000 with a tolerance", `"calls":[{"name":"tag","arguments":{"tags":` + numbers(4000, 0, 1) + `},"match":{"tags":{"set":true,"tolerance":0.5}}}]`,
			`tag {"tags":` + numbers(4000, 3999, -1) + `}`, true},
		{"200 calls of 200", `"calls":[` + repeated(200, `{"name":"tag","arguments":{"tags":[1,2,3]}}`, ",") + `]`, repeated(200, `tag {"tags":[1,2,3]}`, ";"), false},
		{"many calls with many alternatives", `"calls":[` + repeated(50, `{"name":"tag","arguments":{"tags":[]},"match":{"tags":{"one_of":[`+repeated(250, numbers(20, 9, 1), ",")+`],"tolerance":0.1}}}`, ",") + `]`,
			repeated(250, `tag {"tags":`+strings.TrimSuffix(numbers(19, 9, 1), "]")+`,0]}`, ";"), true},
		{"many large calls that are equal", `"calls":[]`, repeated(500, `tag {"tags":`+numbers(2000, 0, 1)+`}`, ";"), false},
		{"many large calls that differ", `"calls":[` + repeated(200, `{"name":"tag","arguments":{"tags":`+numbers(1000, 0, 1)+`}}`, ",") + `]`,
			repeated(500, `tag {"tags":`+numbers(1000, 1, 1)+`}`, ";"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan, calls := compile(t, "{"+test.expected+"}"), made(t, test.made)
			first, err := plan.Calls(calls)
			if refused := (*tools.Error)(nil); err != nil && (!errors.As(err, &refused) || refused.Code != tools.TooLarge) || (err != nil) != test.costly {
				t.Fatalf("got error %v; want too many steps: %t", err, test.costly)
			}
			if again, err := plan.Calls(calls); (err != nil) != test.costly || !test.costly && !cmp.Equal(first, again) {
				t.Errorf("comparing again: %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := plan.CallsInto(ctx, new(match.Report), calls); !errors.Is(err, context.Canceled) {
				t.Errorf("got error %v; want the context's", err)
			}
		})
	}
}

// A matcher beside the calls is every call's, unless the call has its own.
func TestSharedMatchers(t *testing.T) {
	plan := compile(t, `{"calls":[{"name":"add","arguments":{"a":1,"b":1}},{"name":"add","arguments":{"a":5,"b":1},"match":{"a":{"tolerance":0}}}],"match":{"a":{"any":true}}}`)
	if got := compared(t, plan, made(t, `add {"a":7,"b":1};add {"a":5,"b":1}`)).Credit; got != 1 {
		t.Errorf("credit %v with the open argument, want 1", got)
	}
	if got := compared(t, plan, made(t, `add {"a":7,"b":1};add {"a":6,"b":1}`)).Credit; got != 0 {
		t.Errorf("credit %v against the call's own matcher, want 0", got)
	}
}

func TestReportNamesTheCalls(t *testing.T) {
	plan := compile(t, `{"calls":[{"name":"add","arguments":{"a":1,"b":1}},{"name":"add","arguments":{"a":2,"b":2}},{"name":"list"}]}`)
	got := compared(t, plan, made(t, `add {"a":2,"b":3};add {"a":1,"b":1};tag {"tags":[]};add {"a":1,"b":1.0}`))
	want := match.Report{
		Pairs:   []int{1, -1, -1},
		Missing: []int{1, 2},
		Extra: []match.Leftover{
			{Made: 0, Repeats: -1, Instead: 1, Differs: []string{"b"}},
			{Made: 2, Repeats: -1, Instead: -1},
			{Made: 3, Repeats: 1, Instead: -1},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompileRefuses(t *testing.T) {
	many := strings.Repeat(`{"name":"list"},`, 256) + `{"name":"list"}`
	tests := []struct{ name, expected, where string }{
		{"an unknown tool", `{"calls":[{"name":"ad"}]}`, "/calls/0/name"},
		{"nothing", `{}`, ""},
		{"an unknown policy", `{"calls":[],"extra":"forgive"}`, "/extra"},
		{"too many calls", `{"calls":[` + many + `]}`, "/calls"},
		{"a call that its schema refuses", `{"calls":[{"name":"add","arguments":{"a":"1","b":1}}]}`, "/calls/0/arguments/a"},
		{"arguments that are no object", `{"calls":[{"name":"add","arguments":[1]}]}`, "/calls/0/arguments"},
		{"arguments with a key twice", `{"calls":[{"name":"add","arguments":{"a":1,"a":2,"b":1}}]}`, "/calls/0/arguments"},
		{"a matcher for nothing", `{"calls":[{"name":"list"}],"match":{"x":{"any":true}}}`, "/match/x"},
		{"a matcher for an argument that there is not", `{"calls":[{"name":"find","arguments":{"text":"x"},"match":{"test":{"any":true}}}]}`, "/calls/0/match/test"},
		{"any and more", `{"calls":[{"name":"find","match":{"text":{"any":true,"set":true}}}]}`, "/calls/0/match/text/any"},
		{"set and one_of", `{"calls":[{"name":"find","match":{"text":{"set":true,"one_of":[1]}}}]}`, "/calls/0/match/text/set"},
		{"one of nothing", `{"calls":[{"name":"find","match":{"text":{"one_of":[]}}}]}`, "/calls/0/match/text/one_of"},
		{"a negative tolerance", `{"calls":[{"name":"find","match":{"text":{"tolerance":-1}}}]}`, "/calls/0/match/text/tolerance"},
		{"an empty answer", `{"answer":" "}`, "/answer"},
		{"an answer that is a list", `{"answer":[1]}`, "/answer"},
		{"an answer that is anything", `{"answer":{"value":1,"any":true}}`, "/answer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse(t, test.expected)
			var mistake *tools.Error
			if !errors.As(err, &mistake) || mistake.Where != test.where || mistake.Want == "" {
				t.Errorf("error %v, want one at %q that says what is right", err, test.where)
			}
		})
	}
}

func TestAnswer(t *testing.T) {
	tests := []struct {
		name, answer, text string
		want               bool
	}{
		{"a number in a sentence", `15`, "4*2+7 = 15.", true},
		{"another last number", `15`, "It is 15, not 16.", false},
		{"by value", `15`, "**15.0**", true},
		{"a percentage within the tolerance", `{"value":14.17,"tolerance":0.01}`, "The price rose by 14.18%", true},
		{"outside the tolerance", `{"value":14.17,"tolerance":0.01}`, "The price rose by 14.19%", false},
		{"thousands", `1234567`, "about $1,234,567", true},
		{"negative", `-5`, "the result: -5", true},
		{"a typographic minus", `-5`, "the result: −5", true},
		{"a hyphen is no sign", `5`, "between 3-5", true},
		{"leading zeros", `7`, "agent 007", true},
		{"no number", `5`, "five", false},
		{"an empty text", `5`, "", false},
		{"the whole text", `"Oslo"`, " Oslo\n", true},
		{"part of the text", `"Oslo"`, "It is Oslo", false},
		{"folded", `{"value":"Oslo","casefold":true}`, "OSLO", true},
		{"an alternative", `{"value":"Oslo","one_of":["Kristiania"]}`, "Kristiania", true},
		{"marked", `"Oslo"`, "I think <answer>Oslo</answer> is right", true},
		{"marked twice", `15`, "<answer>14</answer><answer>15</answer>", false},
		{"marked and never closed", `15`, "<answer>15", false},
		{"a long number cut", `34`, "1234" + strings.Repeat(" ", 4094), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := compile(t, fmt.Sprintf(`{"answer":%s}`, test.answer)).Answer(test.text); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestAnswerRoundTrips(t *testing.T) {
	for _, text := range []string{`14.170`, `"Oslo"`, `{"value":9007199254740993,"tolerance":0.5}`, `{"value":"a","one_of":["b"],"casefold":true}`} {
		t.Run(text, func(t *testing.T) {
			var a match.Answer
			if err := json.Unmarshal([]byte(text), &a); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(a)
			if err != nil || string(again) != text {
				t.Errorf("%s, %v", again, err)
			}
		})
	}
}
