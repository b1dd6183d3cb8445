package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"toolgym/grpo/parse"
	"toolgym/internal/modelserver"
	"toolgym/internal/ollama"
	"toolgym/tools"
)

// OpenAI asks a server with OpenAI's API at /v1/chat/completions. NumCtx is not
// sent, since there is no field for it; token counts are checked against it.
type OpenAI struct {
	Config
	Key string // sent as a bearer token; empty means none
}

// Run plays the task; see the package documentation.
func (o OpenAI) Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (Transcript, error) {
	d := &dialogue{config: o.Config, Transcript: Transcript{Family: parse.Structured}}
	d.open = func(task tools.Task, set tools.Set) (route, error) { return o.route(task, set, seed) }
	return d.run(ctx, env, task)
}

// Check asks the server for its models, so that a run can be refused before its
// first trial. A server that lists no models passes.
func (o OpenAI) Check(ctx context.Context) error {
	if err := ValidateURL(o.URL); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	r, err := o.do(ctx, http.MethodGet, "/v1/models", nil, o.Key)
	if err != nil || r.Error != "" {
		return &tools.Error{Code: tools.Unavailable, Where: "openai", Message: fmt.Sprintf("no server with an OpenAI API answers at %s (%s)", modelserver.Display(o.URL), reason(err, r.Error)), Want: "a running server, and its URL without /v1"}
	}
	var listed struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(r.Body, &listed); err != nil {
		return &tools.Error{Code: tools.Unavailable, Where: "openai", Message: fmt.Sprintf("%s does not answer like an OpenAI API", modelserver.Display(o.URL)), Want: "another URL"}
	}
	var names []string
	for _, m := range listed.Data {
		if m.ID == o.Model || m.ID == o.Model+":latest" {
			return nil
		}
		names = append(names, m.ID)
	}
	if len(names) == 0 {
		return nil
	}
	return &tools.Error{Code: tools.Unavailable, Where: "model", Message: fmt.Sprintf("the server at %s does not have the model %q", modelserver.Display(o.URL), o.Model), Want: "one of " + some(names)}
}

type openAIRequest struct {
	Model       string            `json:"model"`
	Messages    []json.RawMessage `json:"messages"`
	Tools       tools.Set         `json:"tools,omitempty"`
	Seed        int               `json:"seed"`
	MaxTokens   int               `json:"max_tokens,omitempty"`
	Temperature *float64          `json:"temperature,omitempty"`
	LogProbs    bool              `json:"logprobs,omitempty"`
	Format      any               `json:"response_format,omitempty"`
}

type openAIRoute struct {
	openAI  OpenAI
	request openAIRequest
	prompt  []json.RawMessage
}

func (o OpenAI) route(task tools.Task, set tools.Set, seed int) (*openAIRoute, error) {
	prompt, err := messages(task)
	if err != nil {
		return nil, err
	}
	request := openAIRequest{Model: o.Model, Tools: set, Seed: seed, MaxTokens: o.NumPredict, Temperature: o.Temperature, LogProbs: o.LogProbs}
	if o.Format != nil {
		request.Format = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "reply", "schema": o.Format, "strict": true}}
	}
	return &openAIRoute{openAI: o, request: request, prompt: prompt}, nil
}

func (r *openAIRoute) ask(ctx context.Context, conversation []json.RawMessage) (reply, error) {
	r.request.Messages = slices.Clip(r.prompt)
	for _, message := range conversation {
		r.request.Messages = append(r.request.Messages, uncounted(message))
	}
	got, err := r.openAI.post(ctx, "/v1/chat/completions", r.request, r.openAI.Key)
	if err != nil || got.Error != "" {
		return got, err
	}
	return got, got.readOpenAI()
}

// uncounted removes the token count, since strict servers reject unknown
// fields, and sends empty content with calls as null: Ollama drops the calls of
// a message whose content is "".
func uncounted(message json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil {
		return message
	}
	delete(fields, "eval_count")
	if fields["tool_calls"] != nil && string(fields["content"]) == `""` {
		fields["content"] = json.RawMessage("null")
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return message
	}
	return text
}

func (r *reply) readOpenAI() error {
	var a struct {
		Choices []struct {
			Message      json.RawMessage `json:"message"`
			FinishReason string          `json:"finish_reason"`
			LogProbs     *struct {
				Content []struct {
					LogProb float64 `json:"logprob"`
				} `json:"content"`
			} `json:"logprobs"`
		} `json:"choices"`
		Usage struct {
			PromptTokens     ollama.Count `json:"prompt_tokens"`
			CompletionTokens ollama.Count `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := r.decode(&a); err != nil {
		return err
	}
	if len(a.Choices) == 0 || len(a.Choices[0].Message) == 0 || a.Choices[0].Message[0] != '{' || a.Choices[0].FinishReason == "" {
		return fmt.Errorf("%w: no finished choice", errReply)
	}
	first := a.Choices[0]
	r.Message, r.DoneReason = first.Message, first.FinishReason
	r.PromptTokens, r.OutputTokens = int(a.Usage.PromptTokens), int(a.Usage.CompletionTokens)
	if first.LogProbs != nil {
		for _, token := range first.LogProbs.Content {
			r.LogProbs = append(r.LogProbs, token.LogProb)
		}
	}
	return nil
}

func (r *openAIRoute) answer(call tools.Call, result tools.Result) any {
	return struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		ID      string `json:"tool_call_id,omitempty"`
	}{"tool", string(result.Content), call.ID}
}

func reason(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}
