package plugin

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
)

func TestOptionsThatNobodySetAreLeftAlone(t *testing.T) {
	tests := []struct {
		name    string
		options []llms.CallOption
		want    string
	}{
		{"none", nil, `{"num_ctx":512}`},
		{"zeros that were asked for", []llms.CallOption{llms.WithTemperature(0), llms.WithSeed(0), llms.WithTopP(0)}, `{"num_ctx":512,"seed":0,"temperature":0,"top_p":0}`},
		{"several", []llms.CallOption{llms.WithMaxTokens(9), llms.WithTopK(3), llms.WithStopWords([]string{"x"}), llms.WithRepetitionPenalty(1.5)},
			`{"num_ctx":512,"num_predict":9,"repeat_penalty":1.5,"stop":["x"],"top_k":3}`},
		{"the last one wins", []llms.CallOption{llms.WithSeed(1), llms.WithSeed(2)}, `{"num_ctx":512,"seed":2}`},
		{"all at once leave zeros unset", []llms.CallOption{llms.WithOptions(llms.CallOptions{Seed: 7})}, `{"num_ctx":512,"seed":7}`},
		{"one after all at once", []llms.CallOption{llms.WithOptions(llms.CallOptions{Seed: 7}), llms.WithTemperature(0)}, `{"num_ctx":512,"seed":7,"temperature":0}`},
		{"Ollama's own", []llms.CallOption{With(Extra{Options: map[string]any{"min_p": 0.5, "num_ctx": 64}})}, `{"min_p":0.5,"num_ctx":64}`},
		{"one answer", []llms.CallOption{llms.WithN(1), llms.WithCandidateCount(1)}, `{"num_ctx":512}`},
	}
	model, err := NewModel(ModelConfig{Name: "m", NumCtx: 512})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			request, err := model.request(nil, applied(test.options))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(request.Options)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestOptionsThatOllamaDoesNotHave(t *testing.T) {
	tests := []struct {
		name    string
		options []llms.CallOption
	}{
		{"two answers", []llms.CallOption{llms.WithN(2)}},
		{"two candidates", []llms.CallOption{llms.WithCandidateCount(2)}},
		{"a shortest length", []llms.CallOption{llms.WithMinLength(5), llms.WithSeed(1)}},
		{"a longest length", []llms.CallOption{llms.WithMaxLength(0)}},
		{"a forced tool", []llms.CallOption{llms.WithToolChoice(llms.ToolChoice{Type: "function"})}},
		{"any tool", []llms.CallOption{llms.WithToolChoice("required")}},
	}
	model, err := NewModel(ModelConfig{Name: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := model.request(nil, applied(test.options)); !llms.IsNotImplementedError(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRequestFields(t *testing.T) {
	tool := declared(`{"type":"object"}`)
	tests := []struct {
		name    string
		options []llms.CallOption
		want    string
	}{
		{"another model", []llms.CallOption{llms.WithModel("n")}, `{"model":"n","messages":null,"stream":false,"options":{}}`},
		{"JSON", []llms.CallOption{llms.WithJSONMode()}, `{"model":"m","messages":null,"stream":false,"format":"json","options":{}}`},
		{"a schema", []llms.CallOption{With(Extra{Format: json.RawMessage(`{"type":"object"}`)})}, `{"model":"m","messages":null,"stream":false,"format":{"type":"object"},"options":{}}`},
		{"log-probabilities", []llms.CallOption{With(Extra{Logprobs: true, TopLogprobs: 3})}, `{"model":"m","messages":null,"stream":false,"options":{},"logprobs":true,"top_logprobs":3}`},
		{"thinking", []llms.CallOption{llms.WithThinkingMode(llms.ThinkingModeAuto)}, `{"model":"m","messages":null,"stream":false,"options":{},"think":true}`},
		{"no thinking", []llms.CallOption{llms.WithThinkingMode(llms.ThinkingModeNone)}, `{"model":"m","messages":null,"stream":false,"options":{},"think":false}`},
		{"a little thinking", []llms.CallOption{llms.WithThinkingMode(llms.ThinkingModeLow)}, `{"model":"m","messages":null,"stream":false,"options":{},"think":"low"}`},
		{"tools", []llms.CallOption{llms.WithTools(tool)}, `{"model":"m","messages":null,"stream":false,"tools":[{"type":"function","function":{"name":"odd","parameters":{"type":"object","properties":{}}}}],"options":{}}`},
		{"functions", []llms.CallOption{llms.WithFunctions([]llms.FunctionDefinition{*tool[0].Function})}, `{"model":"m","messages":null,"stream":false,"tools":[{"type":"function","function":{"name":"odd","parameters":{"type":"object","properties":{}}}}],"options":{}}`},
		{"no tools", []llms.CallOption{llms.WithTools(tool), llms.WithToolChoice("none")}, `{"model":"m","messages":null,"stream":false,"options":{}}`},
	}
	model, err := NewModel(ModelConfig{Name: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			request, err := model.request(nil, applied(test.options))
			if err != nil {
				t.Fatal(err)
			}
			delete(request.Options, "num_ctx")
			got, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
