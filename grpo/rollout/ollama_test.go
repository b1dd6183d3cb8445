package rollout_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"toolgym/grpo/parse"
	"toolgym/grpo/rollout"
	"toolgym/internal/ollamatest"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

func task(t *testing.T, level string, seed uint64) tools.Task {
	t.Helper()
	task, err := arithmetic.Spec().Task("", level, seed)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// greedy is the small model without chance.
func greedy(url, model string) rollout.Config {
	zero := 0.0
	return rollout.Config{URL: url, Model: model, NumCtx: 2048, NumPredict: 64, MaxTurns: 8, Temperature: &zero}.WithDefaults()
}

func TestProbeARealServer(t *testing.T) {
	server := ollamatest.Start(t)
	m, err := greedy(server.URL, ollamatest.Tools).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.Version == "" || !strings.HasPrefix(m.Digest, "sha256:") || len(m.Digest) != 71 || len(m.TemplateHash) != 71 || !m.Tools || m.Thinking || m.Context == 0 || !strings.Contains(m.Template, ".Messages") {
		t.Errorf("%+v", m)
	}
	list, err := greedy(server.URL, "").Describe(t.Context())
	if err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestProbeSaysWhatToDo(t *testing.T) {
	server := ollamatest.Start(t)
	page := httptest.NewServer(nil) // answers 404 to everything
	t.Cleanup(page.Close)
	tests := []struct{ name, url, model, want string }{
		{"an unknown model", server.URL, "nosuch", ollamatest.Tools},
		{"nobody listens", "http://127.0.0.1:1", "m", "ollama serve"},
		{"https in place of http", strings.Replace(server.URL, "http:", "https:", 1), "m", "http:// in place"},
		{"another server", page.URL, "m", "the address of another"},
		{"no address", "127.0.0.1:11434", "m", "http://127.0.0.1:11434"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := greedy(test.url, test.model).Probe(t.Context())
			var refused *tools.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Want, test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// At temperature 0 all routes are the same model: they give the same calls,
// and the prompt that is rendered here has as many tokens as the server's own.
func TestRoutesAgreeOnARealModel(t *testing.T) {
	server := ollamatest.Start(t)
	c := greedy(server.URL, ollamatest.Tools)
	m, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	solved := 0
	for seed := range uint64(4) {
		task := task(t, "0", seed)
		chat, err := rollout.Chat{Config: c}.Run(t.Context(), arithmetic.Spec().New(), task, 1)
		if err != nil || chat.Failure != nil {
			t.Fatalf("%+v, %v", chat.Failure, err)
		}
		raw, err := rollout.Raw{Config: c, Template: m.Template, Family: parse.Hermes}.Run(t.Context(), arithmetic.Spec().New(), task, 1)
		if err != nil || raw.Failure != nil {
			t.Fatalf("%+v, %v", raw.Failure, err)
		}
		other, err := rollout.OpenAI{Config: c}.Run(t.Context(), arithmetic.Spec().New(), task, 1)
		if err != nil || other.Failure != nil {
			t.Fatalf("%+v, %v", other.Failure, err)
		}
		if chat.Turns[0].PromptTokens != raw.Turns[0].PromptTokens {
			t.Errorf("%s: %d tokens of prompt over chat, %d rendered here:\n%s", task.ID, chat.Turns[0].PromptTokens, raw.Turns[0].PromptTokens, raw.Turns[0].Prompt)
		}
		for name, got := range map[string]rollout.Transcript{"raw": raw, "openai": other} {
			if a, b := calls(chat), calls(got); a != b {
				t.Errorf("%s: chat calls %s, %s calls %s", task.ID, a, name, b)
			}
		}
		if chat.Trajectory.Success {
			solved++
		}
	}
	if solved == 0 {
		t.Error("the model solved nothing")
	}
}

func calls(t rollout.Transcript) string {
	var list []string
	for _, step := range t.Trajectory.Steps {
		list = append(list, step.Call.Name+string(step.Call.Arguments))
	}
	return strings.Join(list, " ")
}
