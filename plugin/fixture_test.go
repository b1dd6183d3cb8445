package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"go.uber.org/goleak"

	"toolgym/tools"
)

// noLeak fails the test if it leaves a goroutine behind. Call it after the
// start of what the tests share.
func noLeak(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// client is an HTTP client whose connections end with the test.
func client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

type pair struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type expression struct {
	Expression string `json:"expression"`
}

type outcome struct {
	Result float64 `json:"result"`
}

// statelessTools is a small set of stateless tools: two numbers, two numbers with a
// possible mistake, one string, nothing.
func statelessTools() tools.Set {
	return tools.Set{
		tools.New("add", "Adds two numbers.", func(_ context.Context, in pair) (outcome, error) {
			return outcome{in.A + in.B}, nil
		}),
		tools.New("divide", "Divides a by b.", func(_ context.Context, in pair) (outcome, error) {
			if in.B == 0 {
				return outcome{}, tools.Mistakef("division by zero")
			}
			return outcome{in.A / in.B}, nil
		}),
		tools.New("measure", "Tells how long a text is.", func(_ context.Context, in expression) (outcome, error) {
			return outcome{float64(len(in.Expression))}, nil
		}),
		tools.New("ping", "Says that it is there.", func(context.Context, struct{}) (outcome, error) {
			return outcome{1}, nil
		}),
	}
}

// counter is a small environment: count up to three, or fail for good when its
// server is made to die.
type counter struct {
	at   int
	dead bool
}

var errDead = errors.New("the server is gone")

func (c *counter) Tools() tools.Set {
	return tools.Set{tools.New[struct{}, outcome]("up", "Counts up by one.", nil)}
}

func (c *counter) Reset(context.Context, tools.Task) (json.RawMessage, error) {
	c.at = 0
	return json.RawMessage(`{"at":0}`), nil
}

func (c *counter) Success() bool { return c.at == 3 }

func (c *counter) Step(_ context.Context, call tools.Call) (tools.Step, error) {
	if c.dead {
		return tools.Step{}, errDead
	}
	c.at++
	result := tools.Result{Content: json.RawMessage(fmt.Sprintf(`{"at":%d}`, c.at))}
	if c.at == 3 {
		return tools.Termination(call, result, 1), nil
	}
	return tools.Transition(call, result, 0.25), nil
}

// script is a model that says what was written down for it, and keeps what it
// was asked. After the last line it says "done".
type script struct {
	mu    sync.Mutex
	lines []llms.ContentChoice
	fails map[int]error // instead of an answer, by number from 0
	asked [][]llms.MessageContent
	with  []llms.CallOptions
}

var _ llms.Model = (*script)(nil)

func (s *script) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}

func (s *script) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	n := len(s.asked)
	s.asked, s.with = append(s.asked, messages), append(s.with, o)
	if err := s.fails[n]; err != nil {
		return nil, err
	}
	line := llms.ContentChoice{Content: "done", StopReason: "stop"}
	if n < len(s.lines) {
		line = s.lines[n]
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{&line}}, nil
}

// says is a line of a script: a text and calls written "name{arguments}".
func says(text string, calls ...string) llms.ContentChoice {
	line := llms.ContentChoice{Content: text, StopReason: "stop", GenerationInfo: map[string]any{"CompletionTokens": 10}}
	for _, call := range calls {
		name, arguments, _ := strings.Cut(call, "{")
		line.ToolCalls = append(line.ToolCalls, llms.ToolCall{Type: "function",
			FunctionCall: &llms.FunctionCall{Name: name, Arguments: strings.TrimPrefix("{"+arguments, "{raw:")}})
	}
	return line
}

// transcript renders messages as one line each.
func transcript(messages []llms.MessageContent) []string {
	var lines []string
	for _, m := range messages {
		line := string(m.Role)
		for _, part := range m.Parts {
			switch p := part.(type) {
			case llms.TextContent:
				line += " " + p.Text
			case llms.ToolCall:
				line += " →" + p.FunctionCall.Name + p.FunctionCall.Arguments
			case llms.ToolCallResponse:
				line += " " + p.Name + "=" + p.Content
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// callbackLog records the callbacks and their arguments.
type callbackLog struct {
	callbacks.SimpleHandler
	mu    sync.Mutex
	heard []string
}

func (e *callbackLog) add(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, fmt.Sprintf(format, args...))
}

func (e *callbackLog) HandleToolStart(_ context.Context, input string)  { e.add("tool start %s", input) }
func (e *callbackLog) HandleToolEnd(_ context.Context, output string)   { e.add("tool end %s", output) }
func (e *callbackLog) HandleToolError(_ context.Context, err error)     { e.add("tool error %v", err) }
func (e *callbackLog) HandleLLMError(_ context.Context, err error)      { e.add("model error %v", err) }
func (e *callbackLog) HandleChainStart(context.Context, map[string]any) { e.add("start") }
func (e *callbackLog) HandleChainEnd(context.Context, map[string]any)   { e.add("end") }
func (e *callbackLog) HandleChainError(_ context.Context, err error)    { e.add("error %v", err) }

func (e *callbackLog) HandleLLMGenerateContentStart(context.Context, []llms.MessageContent) {
	e.add("model start")
}

func (e *callbackLog) HandleLLMGenerateContentEnd(context.Context, *llms.ContentResponse) {
	e.add("model end")
}

func (e *callbackLog) HandleAgentAction(_ context.Context, a schema.AgentAction) {
	e.add("action %s", a.Tool)
}

func (e *callbackLog) HandleAgentFinish(_ context.Context, f schema.AgentFinish) {
	e.add("finish %v", f.ReturnValues["output"])
}
