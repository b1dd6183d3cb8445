package arithmetic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/envtest"
)

// start resets a new Env to the task of seed 17.
func start(t *testing.T, rules, level string) (tools.Env, tools.Task, json.RawMessage) {
	t.Helper()
	task, err := arithmetic.Spec().Task(rules, level, 17)
	if err != nil {
		t.Fatal(err)
	}
	env := arithmetic.Spec().New()
	observation, err := env.Reset(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	return env, task, observation
}

// step makes one call, NAME ARGUMENTS.
func step(t *testing.T, env tools.Env, call string) tools.Step {
	t.Helper()
	name, arguments, _ := strings.Cut(call, " ")
	s, err := env.Step(t.Context(), tools.Call{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPromptsAndObservations(t *testing.T) {
	const instruction = " Use the tools, then call answer with the result."
	tests := []struct{ rules, level, prompt, observation string }{
		{"", "0", "Compute 9*3+7." + instruction, `{"expression":"9*3+7"}`},
		{"", "1", "Compute (9*3+7)-8." + instruction, `{"expression":"(9*3+7)-8"}`},
		{"", "2", "Compute (9*3+7)-(8*1)." + instruction, `{"expression":"(9*3+7)-(8*1)"}`},
		{"", "3", "Compute (9-3)+7." + instruction, `{"expression":"(9-3)+7"}`},
		{"", "4", "Compute ((9-3)+7)*(8+1)." + instruction, `{"expression":"((9-3)+7)*(8+1)"}`},
		{"", "large", "Compute (967241*343721+727949)-(814010*130552)." + instruction, `{"expression":"(967241*343721+727949)-(814010*130552)"}`},
		{"", "grounded", "Compute (a*b+c)-d. Look each letter up first." + instruction, `{"expression":"(a*b+c)-d"}`},
		{"", "restraint", "I like the way you explain things.", `{}`},
		{tools.Documented, "2", "Compute (9*3+7)-(8*1). Use the tools, then call answer when the last value is the result.", `{"last":null,"stored":false}`},
	}
	for _, test := range tests {
		t.Run(test.level+" "+test.rules, func(t *testing.T) {
			_, task, observation := start(t, test.rules, test.level)
			if diff := cmp.Diff([]tools.Message{{Role: "user", Content: test.prompt}}, task.Prompt); diff != "" {
				t.Error(diff)
			}
			if string(observation) != test.observation {
				t.Errorf("observation %s, want %s", observation, test.observation)
			}
		})
	}
}

func TestToolOrder(t *testing.T) {
	tests := []struct{ rules, level, want string }{
		{"", "", "multiply add subtract divide store recall answer calculator"},
		{tools.Sound, "grounded", "multiply add subtract divide store recall answer calculator lookup"},
		{tools.Sound, "restraint", "multiply add subtract divide store recall answer calculator"},
		{tools.Documented, "0", "multiply add subtract answer store recall"},
		{tools.Documented, "", "multiply add subtract answer store recall"},
		{tools.Documented, "large", ""},
		{"unknown", "0", ""},
	}
	for _, test := range tests {
		t.Run(test.rules+" "+test.level, func(t *testing.T) {
			if got := strings.Join(arithmetic.Spec().Tools(test.rules, test.level).Names(), " "); got != test.want {
				t.Errorf("tools %q, want %q", got, test.want)
			}
		})
	}
}

// TestResults uses seed 17, with a b c d e = 9 3 7 8 1.
func TestResults(t *testing.T) {
	tests := []struct {
		name, level string
		calls       []string
		want        string // the last call's result
		isError     bool
	}{
		{"multiply", "0", []string{`multiply {"a":4,"b":2}`}, `{"result":8}`, false},
		{"decimals", "0", []string{`add {"a":0.1,"b":0.2}`}, `{"result":0.3}`, false},
		{"beyond float64", "0", []string{`add {"a":9007199254740993,"b":0}`}, `{"result":9007199254740993}`, false},
		{"hundred digits", "0", []string{`multiply {"a":1e99,"b":10}`}, `{"result":1` + strings.Repeat("0", 100) + `}`, false},
		{"integer written with an exponent", "0", []string{`subtract {"a":1e3,"b":1.0}`}, `{"result":999}`, false},
		{"divide", "0", []string{`divide {"a":5,"b":2}`}, `{"result":2.5}`, false},
		{"quotient with infinite decimals", "0", []string{`divide {"a":85,"b":6}`}, `{"result":14.1666666667}`, false},
		{"divide by zero", "0", []string{`divide {"a":1,"b":0}`}, `{"error":"division by zero: the divisor must not be 0"}`, true},
		{"too large", "0", []string{`multiply {"a":1e900,"b":1e900}`}, `{"error":"the number is too large: numerator and denominator can have at most 4096 bits each"}`, true},
		{"store", "0", []string{`store {"value":15.0}`}, `{"stored":15}`, false},
		{"recall", "0", []string{`store {"value":15}`, `store {"value":2.50}`, `recall`}, `{"result":2.5}`, false},
		{"recall nothing", "0", []string{`recall {}`}, `{"error":"nothing is stored: call store first"}`, true},
		{"answer", "0", []string{`answer {"value":34}`}, `{"accepted":true}`, false},
		{"wrong answer", "0", []string{`answer {"value":35}`}, `{"accepted":true}`, false},
		{"calculator", "0", []string{`calculator {"expression":"85÷6"}`}, `{"result":14.1666666667}`, false},
		{"calculator with a huge power", "0", []string{`calculator {"expression":"9^9^9"}`}, `{"error":"the power is too large: numerator and denominator can have at most 4096 bits each"}`, true},
		{"a hundred thousand brackets", "0", []string{`calculator {"expression":"` + strings.Repeat("(", 100_000) + `"}`},
			`{"error":"invalid arguments for calculator: /expression: got 100000 characters, want at most 512"}`, true},
		{"lookup", "grounded", []string{`lookup {"name":"d"}`}, `{"result":8}`, false},
		{"lookup of an unknown letter", "grounded", []string{`lookup {"name":"e"}`}, `{"error":"the task has no such letter: its letters are a, b, c, d"}`, true},
		{"lookup at another level", "1", []string{`lookup {"name":"a"}`}, `{"error":"unknown tool \"lookup\"; the tools are multiply, add, subtract, divide, store, recall, answer, calculator"}`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env, _, _ := start(t, "", test.level)
			var last tools.Step
			for _, call := range test.calls {
				last = step(t, env, call)
			}
			if string(last.Result.Content) != test.want || last.Result.IsError != test.isError {
				t.Errorf("result %s, error %v; want %s", last.Result.Content, last.Result.IsError, test.want)
			}
		})
	}
}

func TestEndings(t *testing.T) {
	sixteen := strings.Fields(strings.Repeat("recall ", 16))
	tests := []struct {
		name, rules, level string
		calls              []string
		want               string // of outcome
	}{
		{"right", "", "1", []string{`answer {"value":26}`}, "1, terminated, solved"},
		{"right with an exponent", "", "1", []string{`answer {"value":2.60e1}`}, "1, terminated, solved"},
		{"wrong", "", "1", []string{`answer {"value":26.0000000001}`}, "0, terminated, unsolved"},
		{"invalid answer", "", "1", []string{`answer {"value":"26"}`}, "0, continues, unsolved"},
		{"limit", "", "1", sixteen, "0, truncated, unsolved"},
		{"answer at the limit", "", "1", append(sixteen[:15:15], `answer {"value":26}`), "1, terminated, solved"},
		{"large", "", "large", []string{`calculator {"expression":"(967241*343721+727949)-(814010*130552)"}`, `answer {"value":226191138190}`}, "1, terminated, solved"},
		{"a call at level restraint", "", "restraint", []string{`multiply {"a":1,"b":2}`}, "0, terminated, unsolved"},
		{"an answer at level restraint", "", "restraint", []string{`answer {"value":0}`}, "0, terminated, unsolved"},
		{"an unknown tool at level restraint", "", "restraint", []string{`hello`}, "0, terminated, unsolved"},
		{"documented best plan", tools.Documented, "2", []string{"multiply", "add", "subtract", "answer"}, "1.12, terminated, solved"},
		{"documented described target", tools.Documented, "0", []string{"multiply", "add", "answer"}, "0.1, terminated, unsolved"},
		{"documented limit", tools.Documented, "0", []string{"add", "add", "add", "add", "add", "add", "add"}, "0, truncated, unsolved"},
		{"documented invalid calls take steps", tools.Documented, "0", []string{"multiply", "x", `add {"a":1}`, "x", "x", "x", "answer"}, "1.05, terminated, solved"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env, _, _ := start(t, test.rules, test.level)
			var last tools.Step
			for i, call := range test.calls {
				last = step(t, env, call)
				if i < len(test.calls)-1 && (last.Reward != 0 || last.Done()) {
					t.Fatalf("step %d: %+v", i, last)
				}
			}
			if got := outcome(last, env); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// outcome returns the reward of a step, how it ends and whether the task is solved.
func outcome(s tools.Step, env tools.Env) string {
	ends, solved := "continues", "unsolved"
	if s.Terminated {
		ends = "terminated"
	}
	if s.Truncated {
		ends = "truncated"
	}
	if env.Success() {
		solved = "solved"
	}
	return fmt.Sprintf("%v, %s, %s", s.Reward, ends, solved)
}

func TestSay(t *testing.T) {
	tests := []struct{ name, level, text, want string }{
		{"text", "restraint", "Hello!", "1, terminated, solved"},
		{"one letter", "restraint", "!", "1, terminated, solved"},
		{"nothing", "restraint", "", "0, terminated, unsolved"},
		{"blanks", "restraint", " \n\u00a0\u2003", "0, terminated, unsolved"},
		{"zero width", "restraint", "\u200b\u2060\ufeff", "0, terminated, unsolved"},
		{"control characters", "restraint", "\x00\x1b", "0, terminated, unsolved"},
		{"text at another level", "1", "The answer is 26.", "0, continues, unsolved"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			env, _, _ := start(t, "", test.level)
			s, err := env.(tools.Speaker).Say(t.Context(), test.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := outcome(s, env); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func TestSmallTalkVaries(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(2000) {
		task, err := arithmetic.Spec().Task("", "restraint", seed)
		if err != nil || !task.NeedsNoCall {
			t.Fatal(task, err)
		}
		seen[task.Prompt[0].Content] = true
	}
	if len(seen) < 40 {
		t.Errorf("%d different messages, want at least 40", len(seen))
	}
}

func TestCalls(t *testing.T) {
	tests := []struct {
		rules, level string
		plan         []int
		want         string
	}{
		{tools.Sound, "2", []int{mul, add, sto, mul, rcl, sub, ans},
			`multiply {"a":9,"b":3}; add {"a":27,"b":7}; store {"value":34}; multiply {"a":8,"b":1}; recall {}; subtract {"a":34,"b":8}; answer {"value":26}; `},
		{tools.Sound, "0", []int{5, rcl, mul, sto, add, ctx, ans, mul}, `multiply {"a":9,"b":3}; store {"value":27}; `},
		{tools.Sound, "0", []int{mul, eos, add}, `multiply {"a":9,"b":3}; `},
		{tools.Documented, "1", []int{mul, 3, eos, add, ans, add}, `multiply {}; add {}; answer {}; `},
	}
	for _, test := range tests {
		t.Run(test.level+" "+test.rules, func(t *testing.T) {
			task, err := arithmetic.Spec().Task(test.rules, test.level, 17)
			if err != nil {
				t.Fatal(err)
			}
			calls, err := arithmetic.NewEnumerator().Calls(task, test.plan)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, call := range calls {
				fmt.Fprintf(&got, "%s %s; ", call.Name, call.Arguments)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEpisodeSize(t *testing.T) {
	testkit.CheckEpisodeSize(t, arithmetic.Spec(), "grounded", 2000, tools.Call{Name: "store", Arguments: []byte(`{"value":15}`)})
}

func TestContract(t *testing.T) { envtest.Run(t, arithmetic.Spec()) }
