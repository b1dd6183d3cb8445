package suite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/eval/suite"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

const (
	triangle = `"function":[{"name":"triangle_area","description":"Area.","parameters":{"type":"dict","properties":{"base":{"type":"integer"},"height":{"type":"float"},"unit":{"type":"string"}},"required":["base","height"]}}]`
	asked    = `"question":[[{"role":"user","content":"What is the area?"}]]`
	truth    = `"ground_truth":[{"triangle_area":{"base":[10],"height":[5],"unit":["units",""]}}]`
)

func scorer(t testing.TB) *grpo.Scorer {
	t.Helper()
	s, err := grpo.NewScorer(tools.Specs{arithmetic.Spec()}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, lines ...string) ([]eval.Item, []suite.LineError) {
	t.Helper()
	items, problems, err := suite.Read(t.Context(), strings.NewReader(strings.Join(lines, "\n")), "mine")
	if err != nil {
		t.Fatal(err)
	}
	return items, problems
}

func TestReadTakesEveryForm(t *testing.T) {
	tests := []struct {
		name, line, level string
		calls             int
	}{
		{"the leaderboard's", `{"id":"simple_python_12",` + asked + `,` + triangle + `,` + truth + `}`, "simple_python", 1},
		{"messages without turns", `{"id":"q","question":[{"role":"system","content":"Be brief."},{"role":"user","content":"?"}],` + triangle + `,` + truth + `}`, "own", 1},
		{"a plain question and one tool in the wire form", `{"id":"q-3-1","question":"?","function":{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}},"ground_truth":[{"f":{}}]}`, "q", 1},
		{"two calls, level given", `{"id":"x","level":"parallel",` + asked + `,` + triangle + `,"ground_truth":[{"triangle_area":{"base":[1],"height":[2]}},{"triangle_area":{"base":[3],"height":[4.5,4.50001]}}]}`, "parallel", 2},
		{"no call is right", `{"id":"irrelevance_1",` + asked + `,` + triangle + `,"ground_truth":[]}`, "irrelevance", 0},
		{"expected, with an answer", `{"id":"a",` + asked + `,` + triangle + `,"expected":{"calls":[{"name":"triangle_area","arguments":{"base":1,"height":2}}],"answer":1}}`, "own", 1},
		{"expected, with a value left open", `{"id":"b",` + asked + `,` + triangle + `,"expected":{"calls":[{"name":"triangle_area","arguments":{"base":1},"match":{"height":{"any":true}}}]}}`, "own", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			items, problems := read(t, test.line)
			if len(problems) > 0 || len(items) != 1 {
				t.Fatalf("%d items, %v", len(items), problems)
			}
			item := items[0]
			if item.Task.Level != test.level || item.Task.Env != "mine" || len(item.Expected.Calls) != test.calls {
				t.Errorf("level %q, env %q, %d calls", item.Task.Level, item.Task.Env, len(item.Expected.Calls))
			}
			if err := item.Replay(t.Context(), scorer(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadNamesEveryBrokenLine(t *testing.T) {
	good := `{"id":"good",` + asked + `,` + triangle + `,` + truth + `}`
	tests := []struct{ name, line, want string }{
		{"no JSON", `{"id":`, "unexpected EOF"},
		{"no object", `[1]`, "expected a JSON object"},
		{"two objects", `{"id":"x",` + asked + `,` + triangle + `,` + truth + `} {}`, "something follows"},
		{"an unknown key", `{"id":"x","quesiton":"?",` + triangle + `,` + truth + `}`, "quesiton"},
		{"no id", `{` + asked + `,` + triangle + `,` + truth + `}`, "/id"},
		{"an id twice", good, "the id of line 1"},
		{"no question", `{"id":"x",` + triangle + `,` + truth + `}`, "/question"},
		{"several turns", `{"id":"x","question":[[{"role":"user","content":"a"}],[{"role":"user","content":"b"}]],` + triangle + `,` + truth + `}`, "2 turns"},
		{"a strange role", `{"id":"x","question":[{"role":"tool","content":"a"}],` + triangle + `,` + truth + `}`, `role "tool"`},
		{"nothing is right", `{"id":"x",` + asked + `,` + triangle + `}`, "nothing says what is right"},
		{"two truths", `{"id":"x",` + asked + `,` + triangle + `,` + truth + `,"expected":{"calls":[]}}`, "both are given"},
		{"no schema", `{"id":"x",` + asked + `,"function":[{"name":"f","parameters":{"type":"strange"}}],"ground_truth":[]}`, "/parameters"},
		{"a tool twice", `{"id":"x",` + asked + `,"function":[{"name":"f","parameters":{"type":"dict"}},{"name":"f","parameters":{"type":"dict"}}],"ground_truth":[]}`, "stands already"},
		{"an unknown tool is right", `{"id":"x",` + asked + `,` + triangle + `,"ground_truth":[{"circle_area":{"r":[1]}}]}`, "circle_area"},
		{"two functions in a call", `{"id":"x",` + asked + `,` + triangle + `,"ground_truth":[{"a":{},"b":{}}]}`, "names 2 functions"},
		{"a right value that is no list", `{"id":"x",` + asked + `,` + triangle + `,"ground_truth":[{"triangle_area":{"base":10,"height":[5]}}]}`, "/ground_truth/triangle_area/base"},
		{"right arguments that the schema refuses", `{"id":"x",` + asked + `,` + triangle + `,"ground_truth":[{"triangle_area":{"base":["ten"],"height":[5]}}]}`, "/arguments/base"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			items, problems := read(t, good, "", test.line)
			if len(items) != 1 || len(problems) != 1 {
				t.Fatalf("%d items, %v", len(items), problems)
			}
			if p := problems[0]; p.Line != 3 || !strings.Contains(p.Error(), test.want) {
				t.Errorf("got %q at line %d, want …%s… at line 3", p, p.Line, test.want)
			}
			var mistake *tools.Error
			if !errors.As(problems[0], &mistake) || mistake.Code != tools.Invalid {
				t.Errorf("it is %T", problems[0].Err)
			}
		})
	}
}

func TestReadStopsAtALineThatIsTooLong(t *testing.T) {
	_, problems := read(t, "", strings.Repeat("x", 5<<20))
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), "too long") {
		t.Errorf("got %v", problems)
	}
}

// A reference with alternatives that its schema refuses is not seen by the
// reading, and is found by the replay.
func TestReplayFindsImpossibleTasks(t *testing.T) {
	items, problems := read(t, `{"id":"x",`+asked+`,"function":[{"name":"f","parameters":{"type":"dict","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}],"expected":{"calls":[{"name":"f","arguments":{"n":1}}],"answer":"right"}}`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if err := items[0].Replay(t.Context(), scorer(t)); err != nil {
		t.Errorf("a possible task: %v", err)
	}
	items[0].Expected.Calls[0].Arguments = []byte(`{"n":"one"}`)
	var mistake *tools.Error
	if err := items[0].Replay(t.Context(), scorer(t)); !errors.As(err, &mistake) || mistake.Code != tools.Invalid {
		t.Errorf("got %v", err)
	}
}

func TestGenerate(t *testing.T) {
	specs := tools.Specs{arithmetic.Spec()}
	items, err := suite.Generate(specs, suite.Choice{N: 2, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range items {
		got = append(got, item.Task.ID)
	}
	want := []string{"arithmetic/0/5", "arithmetic/0/6", "arithmetic/1/5", "arithmetic/1/6", "arithmetic/2/5", "arithmetic/2/6"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, item := range items {
		if err := item.Replay(t.Context(), scorer(t)); err != nil {
			t.Error(err)
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	specs := tools.Specs{arithmetic.Spec()}
	for _, c := range []suite.Choice{
		{N: 0}, {N: 2, Seed: 1<<64 - 1}, {N: 1, Envs: []string{"chess"}}, {N: 1, Levels: []string{"9"}}, {N: 1, Rules: "fair"},
		{N: suite.MostTasks + 1, Levels: []string{"0"}}, {N: suite.MostTasks}, {N: 1 << 62},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			var mistake *tools.Error
			if _, err := suite.Generate(specs, c); !errors.As(err, &mistake) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Whatever stands in a file, each line gives an item or a problem, and an item
// can be kept and made again.
func FuzzRead(f *testing.F) {
	for _, crasher := range []string{
		`{"id":"x",` + asked + `,` + triangle + `,` + truth + `}`,
		`{"id":"x","question":[],"function":[null],"ground_truth":[null]}`,
		`{"id":"x","question":"?","function":[{"name":"f","parameters":{"type":["dict"],"properties":{"a":[]}}}],"ground_truth":[{"f":{"a":[""]}}]}`,
		`{"id":"\u0000","question":"?","function":[],"ground_truth":[]}`, "\xff\xfe", `null`, `{"id":1}`,
	} {
		f.Add(crasher)
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, problems, err := suite.Read(t.Context(), strings.NewReader(text), "mine")
		if err != nil {
			t.Skip(err)
		}
		lines := 0
		for line := range strings.Lines(text) {
			if strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")) != "" {
				lines++
			}
		}
		if len(items)+len(problems) > lines {
			t.Fatalf("%d items and %d problems of %d lines", len(items), len(problems), lines)
		}
		for _, item := range items {
			kept, err := item.RunTask()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := eval.Restore(t.Context(), nil, kept, map[string]tools.Set{}); err != nil {
				t.Fatalf("%s does not come back: %v", kept.Document, err)
			}
		}
	})
}

// TestFilesAreBounded reads files of more questions, of more lines that cannot be
// used, and of tools that compile to more memory than there may be.
func TestFilesAreBounded(t *testing.T) {
	line := func(id int, function string) string {
		return fmt.Sprintf(`{"id":"q_%d","question":"?","function":%s,"ground_truth":[]}`, id, function)
	}
	heavy := func(number int) string { // 2 kB that compile to 2 MB
		list := make([]string, 20)
		for i := range list {
			list[i] = fmt.Sprintf(`{"name":"f%d","parameters":{"properties":{"a":{"pattern":"^([a-z]x{900})%d$"}}}}`, i, number)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for _, test := range []struct {
		name            string
		lines           int
		line            func(i int) string
		items, problems int
		want            string
	}{
		{"many questions", suite.MostTasks + 5, func(i int) string { return line(i, "[]") }, suite.MostTasks, 1, fmt.Sprintf("line %d: the file has more", suite.MostTasks+1)},
		{"many lines that are none", 2000, func(int) string { return "{}" }, 0, 1001, "line 1001: the file has more"},
		{"equal tools", 1000, func(i int) string { return line(i, heavy(0)) }, 1000, 0, ""},
		{"tools that take much memory", 400, func(i int) string { return line(i, heavy(i)) }, -1, 1, "/function: the tools up to this line take more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var text strings.Builder
			for i := range test.lines {
				text.WriteString(test.line(i) + "\n")
			}
			items, problems, err := suite.Read(t.Context(), strings.NewReader(text.String()), "mine")
			if err != nil || test.items >= 0 && len(items) != test.items || len(problems) != test.problems {
				t.Fatalf("got %d questions, %d problems, error %v; want %d and %d", len(items), len(problems), err, test.items, test.problems)
			}
			if test.want != "" && !strings.Contains(problems[len(problems)-1].Error(), test.want) {
				t.Errorf("got %v; want %q", problems[len(problems)-1], test.want)
			}
			memory := 0
			for i := range items {
				if i == 0 || len(items[i].Tools) == 0 || &items[i].Tools[0] != &items[i-1].Tools[0] {
					memory += items[i].Tools.Memory()
				}
			}
			if memory > 256<<20 || test.items < 0 && memory < 128<<20 {
				t.Errorf("the tools take %d bytes; want at most 256 MiB, and not much less where there are more", memory)
			}
		})
	}
	items, _, err := suite.Read(t.Context(), strings.NewReader(line(1, heavy(0))+"\n"+line(2, heavy(0))), "mine")
	if err != nil || len(items) != 2 {
		t.Fatalf("%d questions, %v", len(items), err)
	}
	known := map[string]tools.Set{}
	for i := range items {
		kept, err := items[i].RunTask()
		if err == nil {
			items[i], err = eval.Restore(t.Context(), nil, kept, known)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if &items[0].Tools[0] != &items[1].Tools[0] || len(known) != 1 {
		t.Errorf("%d lists of tools are compiled again; want 1 for both questions", len(known))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := suite.Read(ctx, strings.NewReader(line(1, "[]")), "mine"); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v; want the context's", err)
	}
}
