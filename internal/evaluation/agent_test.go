package evaluation_test

import (
	"errors"
	"testing"

	"toolgym/grpo/eval"
	"toolgym/internal/evaluation"
	"toolgym/tools"
)

// TestAgentsPlay in place of a model, without any server.
func TestAgentsPlay(t *testing.T) {
	want := map[string]float64{"idle": 0, "random": 0, "oracle": 1}
	for _, name := range evaluation.Agents() {
		t.Run(name, func(t *testing.T) {
			room := room(t)
			e, err := room.Open(t.Context(), evaluation.Request{Run: name, Route: evaluation.RouteAgent, Model: name, Envs: []string{"arithmetic"}, N: 2, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Play(t.Context(), func(eval.Trial) {}); err != nil {
				t.Fatal(err)
			}
			s, err := room.Summary(t.Context(), name)
			if err != nil || s.Success == nil || *s.Success != want[name] || s.Scored != 6 {
				t.Errorf("%+v, %v; want a success rate of %v", s, err, want[name])
			}
			if _, err := room.Report(t.Context(), name); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAgentsThatCanNotPlay(t *testing.T) {
	for name, request := range map[string]evaluation.Request{
		"an unknown one":           {Route: evaluation.RouteAgent, Model: "wizard", Envs: []string{"arithmetic"}},
		"an oracle of a question":  {Route: evaluation.RouteAgent, Model: "oracle", Suite: questions(1)},
		"one on an OpenAI server":  {Route: evaluation.RouteAgent, Model: "idle", OpenAI: "http://127.0.0.1:1"},
		"one without environments": {Route: evaluation.RouteAgent, Model: "idle", Envs: []string{"nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := room(t).Open(t.Context(), request)
			if e := (*tools.Error)(nil); !errors.As(err, &e) {
				t.Errorf("error %v, want a refusal", err)
			}
		})
	}
}
