package api_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolgym/api"
	"toolgym/api/dialect/trl"
	"toolgym/grpo/parse"
	"toolgym/internal/parts"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// A rehearsal is a script, and the stand-in for TRL that it finds in Python: a
// release, with its arguments, and what the model writes.
type rehearsal struct {
	t         *testing.T
	settings  trl.Settings
	release   string
	arguments string // file; default that of the release
	play      play
	env       []string
}

// A play is what the model writes: completions of each task in turn, each a text
// or a chat's messages.
type play struct {
	Chat        bool  `json:"chat"`
	Completions []any `json:"completions"`
}

// A rehearsed is what the stand-in reports.
type rehearsed struct {
	Model      string             `json:"model"`
	Arguments  map[string]any     `json:"arguments"`
	LoRA       map[string]any     `json:"lora"`
	Rows       []map[string]any   `json:"rows"`
	RewardName string             `json:"reward_name"`
	Padding    string             `json:"padding_side"`
	PadToken   string             `json:"pad_token"`
	Rewards    []*float64         `json:"rewards"`
	Logged     map[string]float64 `json:"logged"`
	Saved      string             `json:"saved"`
}

// releases are those whose arguments are in testdata, where their sources are
// named. The last two stand on either side of 1.10.
func releases() []string { return []string{"0.14.0", "1.1.0", "1.10.0", "1.13.0"} }

// run writes the script, runs it, and returns what was printed.
func (r rehearsal) run() (report rehearsed, printed string, err error) {
	r.t.Helper()
	python := parts.Need(r.t, parts.Python)
	script, err := r.settings.Script()
	if err != nil {
		r.t.Fatal(err)
	}
	dir := r.t.TempDir()
	text, err := json.Marshal(r.play)
	if err != nil {
		r.t.Fatal(err)
	}
	path, played, reported := filepath.Join(dir, trl.ScriptName), filepath.Join(dir, "play.json"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(played, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
	arguments := r.arguments
	if arguments == "" {
		arguments = inTestdata(r.t, "grpo_config_"+r.release+".txt")
	}
	command := exec.CommandContext(r.t.Context(), python, path)
	command.Env = append(os.Environ(), "PYTHONPATH="+inTestdata(r.t, "standin"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1", "TOOLGYM_TOKEN=",
		"http_proxy=", "STANDIN_TRL="+r.release, "STANDIN_ARGUMENTS="+arguments, "STANDIN_PLAY="+played, "STANDIN_REPORT="+reported)
	command.Env = append(command.Env, r.env...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		return rehearsed{}, string(out), err
	}
	text, err = os.ReadFile(reported)
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	return report, string(out), err
}

func inTestdata(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "trl", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// lesson is a server of arithmetic, and settings for two tasks of it.
func lesson(t *testing.T, config api.Config) (*fixture, trl.Settings) {
	t.Helper()
	config.Specs = tools.Specs{arithmetic.Spec()}
	f := serve(t, config)
	settings := trl.Default()
	settings.Server, settings.Level, settings.Tasks, settings.Attempts = f.url+"/", "0", 2, 1
	settings.Family, settings.Generations = parse.Hermes, 4
	return f, settings
}
