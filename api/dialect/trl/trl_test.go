package trl_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api/dialect/trl"
	"toolgym/grpo"
	"toolgym/internal/parts"
	"toolgym/tools"
)

// What the script does, against a server and a stand-in for TRL, is tested in
// package api.

func TestDefaultsAreValid(t *testing.T) {
	if err := trl.Default().Validate(); err != nil {
		t.Error(err)
	}
	var read trl.Settings
	if err := json.Unmarshal([]byte(`{}`), &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(trl.Default(), read); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsAreReadBack(t *testing.T) {
	high := 0.28
	want := trl.Default()
	want.Beta, want.EpsilonHigh, want.LoRA, want.Seed = 0, &high, nil, math.MaxUint64
	want.Rubric = grpo.Rubric{Criteria: map[string]grpo.Criterion{"brief": {Weight: -1, Formula: `len(text) > 3`}}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got trl.Settings
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPartsOfSettingsKeepTheOtherDefaults(t *testing.T) {
	var got trl.Settings
	if err := json.Unmarshal([]byte(`{"beta":0,"lora":{"r":4}}`), &got); err != nil {
		t.Fatal(err)
	}
	want := trl.Default()
	want.Beta, want.LoRA.R = 0, 4
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(`{"lora":{"rank":4}}`), &got); err == nil {
		t.Error("an unknown field is taken")
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	tests := []struct {
		name, where, want string
		change            func(*trl.Settings)
	}{
		{"no server", "/server", "http://", func(s *trl.Settings) { s.Server = "" }},
		{"a server of another kind", "/server", "http://", func(s *trl.Settings) { s.Server = "ftp://host" }},
		{"a server with a query", "/server", "http://", func(s *trl.Settings) { s.Server = "http://host?a=b" }},
		{"a secret in the URL", "/server", "TOOLGYM_TOKEN", func(s *trl.Settings) { s.Server = "http://me:secret@host" }},
		{"no environment", "/env", "a name", func(s *trl.Settings) { s.Env = "" }},
		{"a long model", "/model", "1000 bytes", func(s *trl.Settings) { s.Model = strings.Repeat("m", 1001) }},
		{"half a character", "/model", "UTF-8", func(s *trl.Settings) { s.Model = "\xc3" }},
		{"NUL", "/output_dir", "NUL", func(s *trl.Settings) { s.Output = "a\x00b" }},
		{"a family that is none", "/family", "hermes", func(s *trl.Settings) { s.Family = "latin" }},
		{"a loss that is none", "/loss_type", "dapo", func(s *trl.Settings) { s.Loss = "ppo" }},
		{"a level that is none", "/importance_sampling_level", "token", func(s *trl.Settings) { s.Importance = "word" }},
		{"a normalization that is none", "/normalization", "group", func(s *trl.Settings) { s.Normalization = "mean" }},
		{"no tasks", "/tasks", "1 to", func(s *trl.Settings) { s.Tasks = 0 }},
		{"seeds beyond the last", "/seed", "18446744073709550616", func(s *trl.Settings) { s.Seed = math.MaxUint64 - 998 }},
		{"a group of one", "/num_generations", "2 to", func(s *trl.Settings) { s.Generations = 1 }},
		{"a negative β", "/beta", "at least 0", func(s *trl.Settings) { s.Beta = -0.1 }},
		{"an ε that is no number", "/epsilon", "at least 0", func(s *trl.Settings) { s.Epsilon = math.NaN() }},
		{"an infinite ε above", "/epsilon_high", "finite", func(s *trl.Settings) { s.EpsilonHigh = number(math.Inf(1)) }},
		{"no temperature", "/temperature", "above 0", func(s *trl.Settings) { s.Temperature = 0 }},
		{"no learning", "/learning_rate", "above 0", func(s *trl.Settings) { s.LearningRate = 0 }},
		{"a rubric of nothing", "/rubric/criteria", "between 1", func(s *trl.Settings) { s.Rubric = grpo.Rubric{} }},
		{"an infinite weight", "/rubric/criteria/format/weight", "finite", func(s *trl.Settings) { s.Rubric.Criteria["format"] = grpo.Criterion{Weight: math.Inf(1)} }},
		{"no rank", "/lora/r", "1 to", func(s *trl.Settings) { s.LoRA.R = 0 }},
		{"everything dropped out", "/lora/dropout", "below 1", func(s *trl.Settings) { s.LoRA.Dropout = 1 }},
		{"a layer without a name", "/lora/target_modules/1", "a layer", func(s *trl.Settings) { s.LoRA.Targets = []string{"q_proj", ""} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			settings := trl.Default()
			test.change(&settings)
			_, err := settings.Script()
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid || e.Where != test.where || !strings.Contains(e.Want, test.want) {
				t.Errorf("%v, want one at %s that wants %q", err, test.where, test.want)
			}
		})
	}
}

// hostile are texts that would be code, or break one, if they were not escaped.
func hostile() []string {
	return []string{
		`plain`, `"); import os; os.system("true") #`, `'''`, `"""`, `\`, `\"`, "a\nb", "a\r\nb", "\t\v\f\b\a\x1b[31m", "{{.Server}}", "%s {x!r} f\"{1}\"",
		"Zürich/größe", "模型", "😀", "\u2028\u2029\u0085", "\u202e\u2066reversed\u2069", "\ufeff", "\ufffd", "nul-free \x7f", `\N{BULLET} \x41 \u0041`, "end\\",
	}
}

// TestTextsComeBackFromPython writes every hostile text into every place for
// one, compiles the script, and lets Python say what it read.
func TestTextsComeBackFromPython(t *testing.T) {
	python := parts.Need(t, parts.Python)
	for _, text := range hostile() {
		settings := trl.Default()
		settings.Env, settings.Level, settings.Rules, settings.Model, settings.Output = text, text, text, text, text
		settings.LoRA.Targets = []string{text, text + text}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		settings.Rubric.Criteria["own"] = grpo.Criterion{Weight: 0.1, Formula: "text == " + string(quoted)}
		if settings.Rubric.Validate() != nil { // formulas do not take every text
			delete(settings.Rubric.Criteria, "own")
		}
		got := constants(t, python, settings)
		for _, name := range []string{"ENV", "LEVEL", "RULES", "MODEL"} {
			if got[name] != text {
				t.Errorf("%s is %q, want %q", name, got[name], text)
			}
		}
		want := []any{text, text + text}
		if diff := cmp.Diff(want, got["LORA"].(map[string]any)["target_modules"]); diff != "" {
			t.Error(diff)
		}
		rubric, err := json.Marshal(got["RUBRIC"])
		if err != nil {
			t.Fatal(err)
		}
		var read grpo.Rubric
		if err := json.Unmarshal(rubric, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(settings.Rubric, read); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// constants compiles a script with Python and evaluates its constants, which
// must be literals: nothing of it is run.
func constants(t *testing.T, python string, settings trl.Settings) map[string]any {
	t.Helper()
	script, err := settings.Script()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), trl.ScriptName)
	if err := os.WriteFile(path, script, 0o600); err != nil {
		t.Fatal(err)
	}
	const read = `
import ast, json, py_compile, sys
py_compile.compile(sys.argv[1], cfile=sys.argv[1] + "c", doraise=True)
tree = ast.parse(open(sys.argv[1], encoding="utf-8").read(), feature_version=(3, 10))
found = {}
for node in tree.body:
    if isinstance(node, ast.Assign) and node.targets[0].id in ("SERVER", "TIMEOUT", "ATTEMPTS", "ENV", "LEVEL", "RULES", "SEED", "TASKS", "MODEL", "FAMILY", "RUBRIC", "GRPO", "LORA"):
        found[node.targets[0].id] = ast.literal_eval(node.value)
json.dump(found, sys.stdout)`
	command := exec.CommandContext(t.Context(), python, "-I", "-c", read, path)
	command.Env = append(os.Environ(), "PYTHONUTF8=1")
	out, err := command.Output()
	if err != nil {
		stderr := ""
		if e := (*exec.ExitError)(nil); errors.As(err, &e) {
			stderr = string(e.Stderr)
		}
		t.Fatalf("%v: %s\n%s", err, stderr, script)
	}
	var found map[string]any
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestNumbersComeBackFromPython looks at kinds and bounds.
func TestNumbersComeBackFromPython(t *testing.T) {
	python := parts.Need(t, parts.Python)
	high := 1.0
	settings := trl.Default()
	settings.Beta, settings.Epsilon, settings.EpsilonHigh, settings.LearningRate, settings.LoRA = 0, 5e-324, &high, math.MaxFloat64, nil
	settings.Seed = math.MaxUint64 - 999
	settings.Rubric.Criteria["length"] = grpo.Criterion{Weight: -1, Unit: grpo.UnitToken, Soft: 100, Max: 200}
	script, err := settings.Script()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"\nSEED = 18446744073709550616 ", "\n    \"beta\": 0.0,", "\n    \"epsilon\": 5e-324,", "\n    \"epsilon_high\": 1.0,", "\n    \"learning_rate\": 1.7976931348623157e+308,",
		"\n    \"max_prompt_length\": None,", "\n    \"scale_rewards\": True,", "\n        \"length\": {\"weight\": -1.0, \"unit\": \"token\", \"soft\": 100, \"max\": 200},",
	} {
		if !strings.Contains(string(script), line) {
			t.Errorf("no %q", line)
		}
	}
	got := constants(t, python, settings)
	if _, ok := got["LORA"]; ok || strings.Contains(string(script), "peft") {
		t.Error("there is LoRA")
	}
	if arguments := got["GRPO"].(map[string]any); arguments["epsilon"] != 5e-324 || arguments["learning_rate"] != math.MaxFloat64 {
		t.Error(arguments)
	}
}

// FuzzText holds that any text that settings take comes through Go's quoting as
// one line of printable characters: what makes it one literal.
func FuzzText(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		settings := trl.Default()
		settings.Model = text
		script, err := settings.Script()
		if err != nil {
			return
		}
		plain := trl.Default()
		plain.Model = "m"
		other, err := plain.Script()
		if err != nil {
			t.Fatal(err)
		}
		before, after, _ := strings.Cut(string(other), `"m"`)
		middle, ok := strings.CutPrefix(string(script), before)
		if ok {
			middle, ok = strings.CutSuffix(middle, after)
		}
		if !ok || strings.ContainsAny(middle, "\r\n\u2028\u2029\u0085") || len(middle) < 2 || middle[0] != '"' || middle[len(middle)-1] != '"' {
			t.Errorf("%q became %q", text, middle)
		}
	})
}
