package api_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/api/dialect/trl"
	"toolgym/grpo"
)

// hermes are calls as a model of that family writes them.
func hermes(calls ...string) string {
	var b strings.Builder
	for _, call := range calls {
		b.WriteString("<tool_call>\n" + call + "\n</tool_call>")
	}
	return b.String()
}

// samples are four completions of each of the two tasks: right, valid but wrong,
// malformed, and mere talk. The tasks are 4*6+0 and 3*8+9.
func samples() []any {
	wrong, invalid := hermes(`{"name": "multiply", "arguments": {"a": 1, "b": 6}}`), hermes(`{"name": "multiply", "arguments": {"a": "four",}}`)
	return []any{
		hermes(`{"name": "multiply", "arguments": {"a": 4, "b": 6}}`, `{"name": "add", "arguments": {"a": 24, "b": 0}}`, `{"name": "answer", "arguments": {"value": 24}}`),
		wrong, invalid, "It is 24 — \"obviously\" 😀\n",
		"Let me think.", invalid, wrong,
		hermes(`{"name": "multiply", "arguments": {"a": 3, "b": 8}}`, `{"name": "add", "arguments": {"a": 24, "b": 9}}`, `{"name": "answer", "arguments": {"value": 33}}`),
	}
}

// expected is what the server itself says of the completions, by the Go client.
func expected(t *testing.T, f *fixture, settings trl.Settings, completions []any) (rewards []*float64, criteria map[string]float64) {
	t.Helper()
	c, err := client.New(client.Config{URL: f.url})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	groups := make([]grpo.Group, settings.Tasks)
	for i, written := range completions {
		group := &groups[i/(len(completions)/settings.Tasks)]
		var completion grpo.Completion
		switch written := written.(type) {
		case string:
			completion = grpo.Completion{Text: &written, Family: settings.Family}
		case []json.RawMessage:
			completion = grpo.Completion{Messages: written, Family: settings.Family}
		}
		group.Completions = append(group.Completions, completion)
	}
	for i := range groups {
		groups[i].ID, groups[i].TaskID = "g", []string{"arithmetic/0/0", "arithmetic/0/1"}[i]
	}
	response, err := c.Score(t.Context(), grpo.Request{Rubric: &settings.Rubric, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, group := range response.Groups {
		for _, score := range group.Completions {
			rewards = append(rewards, score.Reward)
			for criterion := range score.Criteria.All() {
				sums[criterion.Name] += criterion.Value
			}
		}
	}
	criteria = map[string]float64{}
	for name := range settings.Rubric.Criteria {
		criteria["toolgym/"+name] = sums[name] / float64(len(rewards))
	}
	return rewards, criteria
}

// TestScriptsTrain runs the script against each release's stand-in and a live
// server: what the reward function gives TRL is what the server says, in plain
// text and in chat form, and the arguments are those that the release has.
func TestScriptsTrain(t *testing.T) {
	f, settings := lesson(t, api.Config{})
	settings.LoRA.Targets = []string{"q_proj", "v_proj"}
	settings.Model = "me/\"\"\"'''my\\ m\u00f6del\n#{x}\"); raise SystemExit(7) #"
	want, criteria := expected(t, f, settings, samples())
	if distinct := map[float64]bool{*want[0]: true, *want[1]: true, *want[2]: true, *want[3]: true}; len(distinct) != 4 {
		t.Fatalf("the server's rewards are %v", distinct)
	}
	common := map[string]any{"output_dir": "toolgym-grpo", "max_steps": 250., "learning_rate": 1e-5, "gradient_accumulation_steps": 4., "num_generations": 4.,
		"max_completion_length": 512., "temperature": 1., "beta": 0.05, "remove_unused_columns": false, "logging_steps": 1.}
	newer := map[string]any{"per_device_train_batch_size": 4., "epsilon": 0.2, "loss_type": "dapo", "importance_sampling_level": "token", "scale_rewards": true}
	oldest := map[string]any{"per_device_train_batch_size": 1.}
	lacking := map[string]string{
		"0.14.0": "left out, since GRPOConfig of TRL 0.14.0 does not have it: epsilon=0.2, loss_type='dapo', importance_sampling_level='token', scale_rewards=True\n",
		"1.1.0":  "left out, since GRPOConfig of TRL 1.1.0 does not have it: max_prompt_length=None\n",
		"1.10.0": "left out, since GRPOConfig of TRL 1.10.0 does not have it: max_prompt_length=None\n",
		"1.13.0": "left out, since GRPOConfig of TRL 1.13.0 does not have it: max_prompt_length=None\n",
	}
	for _, release := range releases() {
		for _, chat := range []bool{false, true} {
			t.Run(release+map[bool]string{true: " chat", false: " text"}[chat], func(t *testing.T) {
				got, printed, err := rehearsal{t: t, settings: settings, release: release, play: play{chat, samples()}}.run()
				if err != nil {
					t.Fatalf("%v: %s", err, printed)
				}
				if diff := cmp.Diff(want, got.Rewards); diff != "" {
					t.Errorf("rewards:\n%s", diff)
				}
				arguments := maps.Clone(common)
				maps.Copy(arguments, map[bool]map[string]any{true: oldest, false: newer}[release == "0.14.0"])
				if diff := cmp.Diff(arguments, got.Arguments); diff != "" {
					t.Errorf("arguments:\n%s", diff)
				}
				if !strings.Contains(printed, "toolgym: "+lacking[release]) {
					t.Errorf("printed %q, want %q", printed, lacking[release])
				}
				logged := maps.Clone(criteria)
				logged["toolgym/unscored"], logged["loss"] = 0, 0.5
				if diff := cmp.Diff(logged, got.Logged); diff != "" {
					t.Errorf("logged:\n%s", diff)
				}
				checkTrained(t, settings, release, got)
			})
		}
	}
}

// checkTrained looks at what is the same whatever was written.
func checkTrained(t *testing.T, settings trl.Settings, release string, got rehearsed) {
	t.Helper()
	if got.Model != settings.Model || got.RewardName != "toolgym" || got.Padding != "left" || got.PadToken != "</s>" || got.Saved != settings.Output {
		t.Errorf("%+v", got)
	}
	lora := map[string]any{"task_type": "CAUSAL_LM", "r": 16., "lora_alpha": 32., "lora_dropout": 0.05, "target_modules": []any{"q_proj", "v_proj"}}
	if diff := cmp.Diff(lora, got.LoRA); diff != "" {
		t.Error(diff)
	}
	for i, id := range []string{"arithmetic/0/0", "arithmetic/0/1"} {
		prompt, _ := got.Rows[i]["prompt"].(string)
		if got.Rows[i]["task_id"] != id || !strings.Contains(prompt, `"name": "answer"`) || !strings.Contains(prompt, "user: Compute ") {
			t.Errorf("row %d is %v", i, got.Rows[i])
		}
		// Where TRL puts the first token before a prompt itself, it is not doubled.
		if strings.HasPrefix(prompt, "<s>") != (release == "0.14.0") {
			t.Errorf("%s begins with %.10q", release, prompt)
		}
	}
}
