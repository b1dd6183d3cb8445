package rollout_test

import (
	"math/rand/v2"
	"testing"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/internal/ollamatest"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

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
