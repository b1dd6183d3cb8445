package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/api/dialect/trl"
	"toolgym/grpo"
	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// TestScriptsComeOverREST: what the route gives is what the package writes.
func TestScriptsComeOverREST(t *testing.T) {
	f, settings := lesson(t, api.Config{})
	high := 0.28
	settings.EpsilonHigh, settings.LoRA, settings.Model, settings.Beta = &high, nil, "größer/\"Modell\"\n#", 0
	want, err := settings.Script()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{URL: f.url})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.ExportTRL(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
	answer := f.ask("POST", "/v1/export/trl", `{}`)
	if answer.header.Get("Content-Type") != "text/x-python; charset=utf-8" || answer.header.Get("Content-Disposition") != `attachment; filename="`+trl.ScriptName+`"` {
		t.Errorf("%v", answer.header)
	}
	settings.Env = "chess"
	_, err = c.ExportTRL(t.Context(), settings)
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.NotFound {
		t.Errorf("%v, want not_found", err)
	}
}

// TestScriptsReadWhatTheModelWrote: a family's calls begin with a special token,
// which is missing in the text that TRL passes on, and there in the tokens. These
// are counted, and tell what was cut off.
func TestScriptsReadWhatTheModelWrote(t *testing.T) {
	f, settings := lesson(t, api.Config{})
	var body []byte
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/score" {
			body, _ = io.ReadAll(r.Body) // half a body does not decode below
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		f.server.ServeHTTP(w, r)
	}))
	defer between.Close()
	settings.Server, settings.Family, settings.Tasks, settings.Longest = between.URL, parse.Mistral, 1, 20
	// U+E002 is [TOOL_CALLS] to the stand-in's tokenizer, U+E003 ends what was cut off.
	const call = `[{"name": "multiply", "arguments": {"a": 4, "b": 6}}]`
	got, printed, err := rehearsal{t: t, settings: settings, release: "1.13.0", play: play{Completions: []any{"\ue002" + call, call, "\ue002" + call[:19] + "\ue003", "24"}}}.run()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	var sent struct {
		Groups []struct {
			Completions []map[string]any `json:"completions"`
		} `json:"groups"`
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"family": "mistral", "text": "[TOOL_CALLS]" + call, "tokens": float64(len(call) + 2)},
		{"family": "mistral", "text": call, "tokens": float64(len(call) + 1)},
		{"family": "mistral", "text": "[TOOL_CALLS]" + call[:19], "tokens": 20., "finish_reason": "length"},
		{"family": "mistral", "text": "24", "tokens": 3.},
	}
	if diff := cmp.Diff(want, sent.Groups[0].Completions); diff != "" {
		t.Error(diff)
	}
	if *got.Rewards[0] <= *got.Rewards[1] {
		t.Errorf("the special token makes no difference: %v", *got.Rewards[0])
	}
}

// TestScriptsPassMessagesOn: a chat with tools' results goes to the server as it
// is.
func TestScriptsPassMessagesOn(t *testing.T) {
	f, settings := lesson(t, api.Config{})
	settings.Tasks = 1
	chat := []json.RawMessage{
		json.RawMessage(`{"role":"assistant","content":"","tool_calls":[{"type":"function","function":{"name":"multiply","arguments":{"a":4,"b":6}}}]}`),
		json.RawMessage(`{"role":"tool","name":"multiply","content":"{\"result\":24}"}`),
		json.RawMessage(`{"role":"assistant","content":"","tool_calls":[{"type":"function","function":{"name":"answer","arguments":{"value":24}}}]}`),
	}
	completions := []any{chat, chat[:1]}
	want, _ := expected(t, f, settings, completions)
	got, printed, err := rehearsal{t: t, settings: settings, release: "1.13.0", play: play{true, completions}}.run()
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	if diff := cmp.Diff(want, got.Rewards); diff != "" || *want[0] != 5.4 {
		t.Errorf("want 5.4 first:\n%s", diff)
	}
}

// TestScriptsWithoutAReward: a null reward is None to a release that leaves it
// out of the group, and the mean of the others to one that would stop at it, or
// take it for 0.
func TestScriptsWithoutAReward(t *testing.T) {
	_, settings := lesson(t, api.Config{})
	settings.Rubric = grpo.Rubric{Criteria: map[string]grpo.Criterion{"own": {Weight: 1, Formula: `len(text) / (text contains "?" ? turns - turns : 1)`}}}
	number := func(v float64) *float64 { return &v }
	completions := []any{"a", "?", "abc", "?", "?", "?"}
	for release, want := range map[string][]*float64{
		"0.14.0": {number(1), number(2), number(3), number(0), number(0), number(0)},
		"1.9.9":  {number(1), number(2), number(3), number(0), number(0), number(0)},
		"1.10.0": {number(1), nil, number(3), nil, nil, nil},
		"1.13.0": {number(1), nil, number(3), nil, nil, nil},
	} {
		t.Run(release, func(t *testing.T) {
			r := rehearsal{t: t, settings: settings, release: release, play: play{Completions: completions}}
			if release == "1.9.9" {
				r.arguments = inTestdata(t, "grpo_config_1.1.0.txt")
			}
			got, printed, err := r.run()
			if err != nil {
				t.Fatalf("%v: %s", err, printed)
			}
			if diff := cmp.Diff(want, got.Rewards); diff != "" {
				t.Errorf("rewards:\n%s", diff)
			}
			if got.Logged["toolgym/unscored"] != 4./6 || got.Logged["toolgym/own"] != 2 || !strings.Contains(printed, "4 of 6 completions have no reward; the first: ") {
				t.Errorf("%v, printed %q", got.Logged, printed)
			}
		})
	}
}

// TestScriptsWithTruthValues: a release that knows scale_rewards as yes or no
// would take every text for yes.
func TestScriptsWithTruthValues(t *testing.T) {
	_, settings := lesson(t, api.Config{})
	names := "output_dir\nmax_steps\nlearning_rate\ngradient_accumulation_steps\nnum_generations\nmax_prompt_length\nmax_completion_length\ntemperature\nbeta\n" +
		"epsilon\nepsilon_high\nloss_type\nimportance_sampling_level\nremove_unused_columns\nlogging_steps\nper_device_train_batch_size\nscale_rewards=True\n"
	arguments := filepath.Join(t.TempDir(), "arguments")
	if err := os.WriteFile(arguments, []byte(names), 0o600); err != nil {
		t.Fatal(err)
	}
	high := 0.28
	settings.EpsilonHigh = &high
	for normalization, want := range map[objective.Normalization]any{objective.NormalizeGroup: true, objective.NormalizeNone: false, objective.NormalizeBatch: true} {
		settings.Normalization = normalization
		got, printed, err := rehearsal{t: t, settings: settings, release: "0.20.0", arguments: arguments, play: play{Completions: samples()}}.run()
		if err != nil {
			t.Fatalf("%v: %s", err, printed)
		}
		if got.Arguments["scale_rewards"] != want || got.Arguments["epsilon_high"] != 0.28 {
			t.Errorf("%s: %v", normalization, got.Arguments)
		}
		if said := strings.Contains(printed, "does not have it: scale_rewards='batch'\n"); said != (normalization == objective.NormalizeBatch) {
			t.Errorf("%s: printed %q", normalization, printed)
		}
	}
}

// TestScriptsWithTokens: the token is read from the environment.
func TestScriptsWithTokens(t *testing.T) {
	f, settings := lesson(t, api.Config{Tokens: []api.Token{token(t, "carol", api.Score), token(t, "alice", api.Play)}})
	r := rehearsal{t: t, settings: settings, release: "1.13.0", play: play{Completions: samples()}, env: []string{"TOOLGYM_TOKEN=" + secretOf("carol")}}
	if got, printed, err := r.run(); err != nil || len(got.Rewards) != 8 {
		t.Errorf("%v: %s", err, printed)
	}
	for secret, want := range map[string]string{"": "401 ", "tg_GUESS": "the token is not known (the variable TOOLGYM_TOKEN holds the token)", secretOf("alice"): f.url + "/v1/score: 403 "} {
		r.env = []string{"TOOLGYM_TOKEN=" + secret}
		if _, printed, err := r.run(); err == nil || !strings.Contains(printed, want) || strings.Contains(printed, "Traceback") {
			t.Errorf("%q: %v, %s, want %q", secret, err, printed, want)
		}
	}
}

// TestScriptsSayWhatIsWrong in one line, without a traceback.
func TestScriptsSayWhatIsWrong(t *testing.T) {
	_, settings := lesson(t, api.Config{})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	answering := func(status int, header, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	tests := []struct {
		name, want string
		env        string
		change     func(*trl.Settings)
	}{
		{"an environment that is not there", `404 env: unknown environment "chess"; expected one of arithmetic`, "", func(s *trl.Settings) { s.Env = "chess" }},
		{"an environment that is a path", "404 ", "", func(s *trl.Settings) { s.Env = "../../openapi.json?" }},
		{"a level that is not there", `422 level: unknown level "9"`, "", func(s *trl.Settings) { s.Level = "9" }},
		{"nobody there", "refused (asked 1 times; does toolgym serve run there?)", "", func(s *trl.Settings) { s.Server = closed.URL }},
		{"a server of something else", "(asked 1 times; ", "", func(s *trl.Settings) { s.Server = answering(200, "", "<html>") }},
		{"a proxy's page", "418 I'm a teapot", "", func(s *trl.Settings) { s.Server = answering(418, "", "<h1>no</h1>") }},
		{"a server that is busy", "503 Service Unavailable; again in 0 s\n", "", func(s *trl.Settings) { s.Server, s.Attempts = answering(503, "0", ""), 3 }},
		{"a template without tools", "the chat template of Qwen/Qwen2.5-0.5B-Instruct hides the tool multiply", "STANDIN_HIDES_TOOLS=1", func(*trl.Settings) {}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			settings := settings
			test.change(&settings)
			r := rehearsal{t: t, settings: settings, release: "1.13.0", play: play{Completions: samples()}, env: []string{test.env}}
			if _, printed, err := r.run(); err == nil || !strings.Contains(printed, test.want) || strings.Contains(printed, "Traceback") {
				t.Errorf("%v, %s, want %q", err, printed, test.want)
			}
		})
	}
}

// TestScriptsTryAgain: a busy server is asked again, and the reward comes.
func TestScriptsTryAgain(t *testing.T) {
	f, settings := lesson(t, api.Config{})
	var asked atomic.Int64
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%2 == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		f.server.ServeHTTP(w, r)
	}))
	defer busy.Close()
	settings.Server, settings.Attempts = busy.URL, 2
	got, printed, err := rehearsal{t: t, settings: settings, release: "1.13.0", play: play{Completions: samples()}}.run()
	if err != nil || len(got.Rewards) != 8 || asked.Load() != 6 {
		t.Errorf("%v after %d requests: %s", err, asked.Load(), printed)
	}
}
