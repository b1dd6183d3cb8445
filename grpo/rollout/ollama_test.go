package rollout_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
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

// play rolls one task out on the real server and grades it.
func play(t *testing.T, chat rollout.Chat, id string, seed int) (rollout.Transcript, grpo.Score) {
	t.Helper()
	specs := tools.Specs{arithmetic.Spec()}
	spec, task, err := specs.Task(id)
	if err != nil {
		t.Fatal(err)
	}
	chat.Config = chat.WithDefaults()
	transcript, err := chat.Run(t.Context(), spec.New(), task, seed)
	if err != nil {
		t.Fatal(err)
	}
	return transcript, grade(t, specs, id, transcript.Completion())
}

func grade(t *testing.T, specs tools.Specs, id string, completion grpo.Completion) grpo.Score {
	t.Helper()
	scorer, err := grpo.NewScorer(specs, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	response, err := scorer.Score(t.Context(), grpo.Request{Groups: []grpo.Group{{ID: id, TaskID: id, Completions: []grpo.Completion{completion}}}})
	if err != nil {
		t.Fatal(err)
	}
	return response.Groups[0].Completions[0]
}

func TestRealModelSolvesATask(t *testing.T) {
	server := ollamatest.Start(t)
	cold := 0.0
	transcript, score := play(t, rollout.Chat{Config: rollout.Config{URL: server.URL, Model: ollamatest.Tools, Temperature: &cold}}, "arithmetic/0/1", 1)
	if transcript.Failure != nil || !score.Success || score.Reward == nil {
		t.Fatalf("failure %v, score %+v", transcript.Failure, score)
	}
	// Three turns: multiply, add, answer.
	if want := 1.0 + 1.5 + 3.0 - 0.05*float64(len(transcript.Turns)); *score.Reward != want {
		t.Errorf("reward %v with %d turns, want %v", *score.Reward, len(transcript.Turns), want)
	}
	for i, turn := range transcript.Turns {
		if turn.PromptTokens == 0 || turn.OutputTokens == 0 || turn.Body == "" || turn.DoneReason != "stop" {
			t.Errorf("turn %d is not whole: %+v", i, turn)
		}
	}
}

// TestBetterModelCompletesMore is what the product is for: on the same tasks
// the model that was trained to the end solves more.
func TestBetterModelCompletesMore(t *testing.T) {
	server := ollamatest.Start(t)
	solved := map[string]int{}
	source := rand.New(rand.NewPCG(2, 7))
	for range 8 {
		id := "arithmetic/0/" + digits(source.Uint64N(1000))
		for _, model := range []string{ollamatest.Tools, ollamatest.Base} {
			if _, score := play(t, rollout.Chat{Config: rollout.Config{URL: server.URL, Model: model}}, id, 1); score.Success {
				solved[model]++
			}
		}
	}
	if solved[ollamatest.Tools] <= solved[ollamatest.Base] {
		t.Errorf("solved %v: the better model is not ahead", solved)
	}
}

// TestWhatIsNotTheModelsFaultIsNull: a null reward with the right kind of
// failure, never 0.
func TestWhatIsNotTheModelsFaultIsNull(t *testing.T) {
	server := ollamatest.Start(t)
	tests := []struct {
		name string
		chat rollout.Chat
		kind string
	}{
		{"a model that does not exist", rollout.Chat{Config: rollout.Config{URL: server.URL, Model: "no-such-model"}}, grpo.FailureInfrastructure},
		{"a server that is down", rollout.Chat{Config: rollout.Config{URL: "http://127.0.0.1:1", Model: ollamatest.Tools}}, grpo.FailureInfrastructure},
		{"a context too small for the prompt", rollout.Chat{Config: rollout.Config{URL: server.URL, Model: ollamatest.Tools, NumCtx: 32}}, grpo.FailureHarness},
		{"a context that fills up in the second turn", rollout.Chat{Config: rollout.Config{URL: server.URL, Model: ollamatest.Tools, NumCtx: 110}}, grpo.FailureHarness},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			transcript, score := play(t, test.chat, "arithmetic/2/4", 1)
			if score.Reward != nil || score.Valid || score.Failure == nil || score.Failure.Kind != test.kind {
				t.Errorf("score %+v, failure %+v, turns %+v", score, score.Failure, transcript.Turns)
			}
		})
	}
}

// TestReachedNumPredictIsTheModels: a reply that ran into its own limit is
// graded, and an incomplete call in it earns nothing.
func TestReachedNumPredictIsTheModels(t *testing.T) {
	server := ollamatest.Start(t)
	transcript, score := play(t, rollout.Chat{Config: rollout.Config{URL: server.URL, Model: ollamatest.Tools, NumPredict: 4}}, "arithmetic/0/1", 1)
	if transcript.FinishReason != "length" || transcript.Failure != nil {
		t.Fatalf("finish reason %q, failure %v", transcript.FinishReason, transcript.Failure)
	}
	if score.Reward == nil || score.Success {
		t.Errorf("score %+v, want a reward for a failed task", score)
	}
}

// dependencies.md of the project lists what the client's type loses: bounds,
// const, default, additionalProperties.
func TestHidden(t *testing.T) {
	tool, err := tools.Declare("f", "F.", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","description":"A.","minimum":1,"enum":[1,2]},"b/c":{"type":"string","default":"x"}},"required":["a"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := rollout.Hidden(tools.Set{tool})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/0/function/parameters/additionalProperties",
		"/0/function/parameters/properties/a/minimum",
		"/0/function/parameters/properties/b~1c/default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFamilyHint(t *testing.T) {
	for text, want := range map[string]parse.Family{
		`{{ range .ToolCalls }}<tool_call>`: parse.Hermes,
		`[TOOL_CALLS]`:                      parse.Mistral,
		`plain`:                             parse.Auto,
	} {
		if got := rollout.FamilyHint(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
