package lab

import (
	"strings"
	"testing"
	"time"

	"toolgym/grpo"
	"toolgym/internal/intake"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

func mustSpecimenTools(t *testing.T) tools.Set {
	t.Helper()
	set, err := new(intake.Desk).Tools([]byte(forecastTool))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// ready is a lab of two environments.
func ready(t *testing.T) *Lab {
	t.Helper()
	specs := tools.Specs{arithmetic.Spec(), gridworld.Spec()}
	scorer, err := grpo.NewScorer(specs, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(Config{Specs: specs, Scorer: scorer, Rubric: grpo.DefaultRubric(), Desk: new(intake.Desk), MaxBody: 1 << 20, CallTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestSpecimens holds every example to the reward that it stands for.
func TestSpecimens(t *testing.T) {
	want := map[string]float64{"near": 2.45, "right": 5.45, "types": 0.95, "fenced": 4.45, "broken": -0.05, "cut": -0.05, "madeup": 1.45, "spam": 2.45,
		"hidden": 0.95, "prose": 0.95, "llama": 5.45, "pythonic": 5.45, "mistral": 5.45, "python": 4.45, "message": 2.45, "task": 5.45}
	l := ready(t)
	for _, s := range l.specimens() {
		t.Run(s.Name, func(t *testing.T) {
			o, err := l.read(t.Context(), s.Draft, presets(l.config.Specs, l.config.Rubric))
			if err != nil || len(o.Faults) > 0 {
				t.Fatal(err, o.Faults)
			}
			if got := *o.Score.Reward; got < want[s.Name]-1e-9 || got > want[s.Name]+1e-9 {
				t.Errorf("it earns %v, want %v", got, want[s.Name])
			}
		})
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Errorf("there are no examples %v", want)
	}
	l.config.Specs = l.config.Specs[1:]
	for _, s := range l.specimens() {
		if s.Draft.Task != "" {
			t.Errorf("%s is of an environment that is not served", s.Name)
		}
	}
}

func TestFaultsStandAtTheirFields(t *testing.T) {
	tests := []struct {
		name, field, text string
		draft             draft
	}{
		{"unknown family", "family", "unknown family", draft{Family: "latin"}},
		{"unknown form", "as", "Want text or message", draft{As: "song"}},
		{"a message that is no JSON", "text", "line 1, column 2", draft{As: asMessage, Text: "{role}", Expected: "[]"}},
		{"a message that is a list", "text", "no JSON object", draft{As: asMessage, Text: "[]"}},
		{"a message of the user", "text", "is the assistant's", draft{As: asMessage, Text: `{"role":"user","content":"Hello."}`, Expected: "[]"}},
		{"unknown ending", "finish", "Want stop or length", draft{Finish: "boredom"}},
		{"tools that are no JSON", "tools", "line 2, column 9", draft{Tools: "[\n{ \"name\"= 1}]"}},
		{"a tool twice", "tools", "/1", draft{Tools: `[{"name":"f"},{"name":"f"}]`}},
		{"tools that are an object", "tools", "Want a list of tools", draft{Tools: `{"name":"f"}`}},
		{"a schema that is none", "tools", "/0/parameters", draft{Tools: `[{"name":"f","parameters":{"type":"thing"}}]`}},
		{"an unknown environment", "from", "Want one of arithmetic, gridworld", draft{From: "chess/1"}},
		{"an unknown level", "from", "no level", draft{From: "arithmetic/99"}},
		{"a task that is none", "task", "Want env/level/seed", draft{Task: "somewhere"}},
		{"a task and tools", "task", "brings its own tools", draft{Task: "arithmetic/0/1", Tools: "[]"}},
		{"a task and expected calls", "expected", "Want no expected calls", draft{Task: "arithmetic/0/1", From: "arithmetic/0", Expected: "[]"}},
		{"expected calls that are no JSON", "expected", "line 1, column 2", draft{Expected: "[nothing]"}},
		{"expected calls of another kind", "expected", "does not fit", draft{Expected: `{"calls": 5}`}},
		{"an expected field that is unknown", "expected", "unknown field", draft{Expected: `{"cals": []}`}},
		{"an expected tool that is not declared", "expected", "/calls/0", draft{Expected: `[{"name":"f","arguments":{}}]`}},
	}
	l := ready(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o, err := l.read(t.Context(), test.draft, presets(l.config.Specs, l.config.Rubric))
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Faults[test.field]; len(o.Faults) != 1 || !strings.Contains(strings.ToLower(got), strings.ToLower(test.text)) {
				t.Errorf("faults %v, want one at %s about %q", o.Faults, test.field, test.text)
			}
		})
	}
}

// TestHostileText is read whole, and shown in part.
func TestHostileText(t *testing.T) {
	l := ready(t)
	for name, text := range map[string]string{
		"openers":  strings.Repeat("<tool_call>", 100_000),
		"calls":    strings.Repeat("<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}</tool_call>\n", 20_000),
		"brackets": "<tool_call>" + strings.Repeat("[{", 1<<19),
		"quotes":   strings.Repeat("{\"name\": \"", 100_000),
		"think":    strings.Repeat("<think>x</think>", 60_000),
	} {
		t.Run(name, func(t *testing.T) {
			o, err := l.read(t.Context(), draft{Text: text, Tools: forecastTool, Expected: forecastCalls}, presets(l.config.Specs, l.config.Rubric))
			if err != nil || len(o.Faults) > 0 {
				t.Fatal(err, o.Faults)
			}
			shown := 0
			for _, s := range o.Segments {
				shown += len(s.Text)
			}
			if shown+o.Cut != len(text) || shown > mostText || len(o.Findings) > mostFindings {
				t.Errorf("%d bytes and %d findings are shown, %d cut of %d", shown, len(o.Findings), o.Cut, len(text))
			}
		})
	}
}

// TestMessages have places for structured calls, and none for what stands in
// their content, which is a text for itself.
func TestMessages(t *testing.T) {
	l := ready(t)
	for text, want := range map[string]string{
		`{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "get_forecast", "arguments": {"city": "Oslo", "days": 5}}}]}`: `{"function": {"name": "get_forecast", "arguments": {"city": "Oslo", "days": 5}}}`,
		`{"role": "assistant", "content": "<think>so</think><tool_call>{\"name\": \"get_forecast\", \"arguments\": {}}</tool_call>"}`:            "",
	} {
		o, err := l.read(t.Context(), draft{As: asMessage, Text: text, Tools: forecastTool, Expected: forecastCalls}, presets(l.config.Specs, l.config.Rubric))
		if err != nil || len(o.Faults) > 0 || len(o.Reading.Attempts) != 1 || len(o.Findings) == 0 {
			t.Fatalf("%s: %v, %v, %d findings", text, err, o.Faults, len(o.Findings))
		}
		got := ""
		for _, place := range marks(o.Findings) {
			if got == "" {
				got = text[place.start:place.end]
			}
		}
		if got != want {
			t.Errorf("the place of the call is %q, want %q", got, want)
		}
	}
}

// TestNothingIsPaidWhereNothingIsAsked: the text is read all the same.
func TestNothingIsPaidWhereNothingIsAsked(t *testing.T) {
	l := ready(t)
	o, err := l.read(t.Context(), draft{Text: "<think>Hm.</think>", Tools: forecastTool}, presets(l.config.Specs, l.config.Rubric))
	if err != nil || len(o.Faults) > 0 || o.Score != nil || o.Expects || o.Reading == nil || len(o.Findings) != 1 {
		t.Errorf("%v, %v, score %v, %d findings", err, o.Faults, o.Score, len(o.Findings))
	}
}
