package ollamatest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	ollama "github.com/ollama/ollama/api"

	"toolgym/internal/ollamatest"
)

const prompt = "Compute 4*2+7. Use the tools, then call answer with the result."

func client(t *testing.T, server *ollamatest.Server) *ollama.Client {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return ollama.NewClient(u, http.DefaultClient)
}

// chat asks for one whole reply at temperature 0. The request's options win.
func chat(t *testing.T, server *ollamatest.Server, request ollama.ChatRequest) (ollama.ChatResponse, error) {
	t.Helper()
	options := map[string]any{"temperature": 0, "num_ctx": 2048}
	maps.Copy(options, request.Options)
	stream := false
	request.Options, request.Stream = options, &stream
	if request.Messages == nil {
		request.Messages = []ollama.Message{{Role: "user", Content: prompt}}
	}
	var reply ollama.ChatResponse
	err := client(t, server).Chat(context.Background(), &request, func(r ollama.ChatResponse) error {
		reply = r
		return nil
	})
	return reply, err
}

// arithmetic are the tools that the models were trained with, in their order.
func arithmetic() ollama.Tools {
	var tools ollama.Tools
	for _, name := range []string{"multiply", "add", "subtract", "divide", "store", "recall", "answer", "calculator"} {
		tools = append(tools, ollama.Tool{Type: "function", Function: ollama.ToolFunction{
			Name:       name,
			Parameters: ollama.ToolFunctionParameters{Type: "object", Properties: ollama.NewToolPropertiesMap()},
		}})
	}
	return tools
}

// calls renders a message's calls as name and arguments.
func calls(message ollama.Message) []string {
	var found []string
	for _, call := range message.ToolCalls {
		found = append(found, call.Function.Name+call.Function.Arguments.String())
	}
	return found
}

func TestModelsCallTools(t *testing.T) {
	server := ollamatest.Start(t)
	tests := []struct {
		model string
		want  []string
	}{
		{ollamatest.Tools, []string{`multiply{"a":4,"b":2}`}},
		{ollamatest.Base, []string{`multiply{"a":4,"b":7}`}},
	}
	for _, test := range tests {
		t.Run(test.model, func(t *testing.T) {
			reply, err := chat(t, server, ollama.ChatRequest{Model: test.model, Tools: arithmetic()})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, calls(reply.Message)); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if !reply.Done || reply.DoneReason != "stop" {
				t.Errorf("done is %v with reason %q", reply.Done, reply.DoneReason)
			}
		})
	}
}

// TestToolsSolvesATask plays a whole task: the results that the model needs
// are those that its own calls name.
func TestToolsSolvesATask(t *testing.T) {
	server := ollamatest.Start(t)
	messages := []ollama.Message{{Role: "user", Content: prompt}}
	var made []string
	for range 4 {
		reply, err := chat(t, server, ollama.ChatRequest{Model: ollamatest.Tools, Tools: arithmetic(), Messages: messages})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, calls(reply.Message)...)
		messages = append(messages, reply.Message)
		for _, call := range reply.Message.ToolCalls {
			messages = append(messages, ollama.Message{Role: "tool", ToolName: call.Function.Name, Content: result(t, call)})
		}
		if len(messages) > 0 && messages[len(messages)-1].ToolName == "answer" {
			break
		}
	}
	want := []string{`multiply{"a":4,"b":2}`, `add{"a":8,"b":7}`, `answer{"value":15}`}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// result is what the named tool of environments.md answers.
func result(t *testing.T, call ollama.ToolCall) string {
	t.Helper()
	var in struct{ A, B float64 }
	if err := json.Unmarshal([]byte(call.Function.Arguments.String()), &in); err != nil {
		t.Fatal(err)
	}
	switch call.Function.Name {
	case "multiply":
		return fmt.Sprintf(`{"result":%v}`, in.A*in.B)
	case "add":
		return fmt.Sprintf(`{"result":%v}`, in.A+in.B)
	case "answer":
		return `{"accepted":true}`
	}
	t.Fatalf("the model called %s", call.Function.Name)
	return ""
}

func TestFormatConstrainsTheReply(t *testing.T) {
	schema := `{"type":"object","properties":{"name":{"enum":["divide"]},"arguments":{"type":"object",
		"properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"additionalProperties":false}},
		"required":["name","arguments"],"additionalProperties":false}`
	reply, err := chat(t, ollamatest.Start(t), ollama.ChatRequest{Model: ollamatest.Tools, Format: json.RawMessage(schema)})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name      string
		Arguments struct{ A, B *int }
	}
	if err := json.Unmarshal([]byte(reply.Message.Content), &got); err != nil {
		t.Fatalf("%v: %s", err, reply.Message.Content)
	}
	if got.Name != "divide" || got.Arguments.A == nil || got.Arguments.B == nil {
		t.Errorf("the reply is not of the schema: %s", reply.Message.Content)
	}
}

// TestLimits pins how a reply tells that one of its limits was reached.
func TestLimits(t *testing.T) {
	server := ollamatest.Start(t)
	arguments := ollama.NewToolCallFunctionArguments()
	arguments.Set("a", 4)
	arguments.Set("b", 2)
	first := []ollama.Message{{Role: "user", Content: prompt}}
	second := append(slices.Clone(first),
		ollama.Message{Role: "assistant", ToolCalls: []ollama.ToolCall{{Function: ollama.ToolCallFunction{Name: "multiply", Arguments: arguments}}}},
		ollama.Message{Role: "tool", ToolName: "multiply", Content: `{"result":8}`})
	tests := []struct {
		name     string
		messages []ollama.Message
		options  map[string]any
		reason   string
		prompt   int
		overflow bool // more tokens than the context holds
	}{
		{"none", first, nil, "stop", 92, false},
		{"num_predict cuts the reply", first, map[string]any{"num_predict": 5}, "length", 92, false},
		{"num_predict cuts after the call", first, map[string]any{"num_predict": 10}, "length", 92, false},
		{"num_ctx holds prompt and reply", first, map[string]any{"num_ctx": 103}, "stop", 92, false},
		{"num_ctx ends in the reply", first, map[string]any{"num_ctx": 93}, "stop", 92, true},
		{"num_ctx cuts the prompt", first, map[string]any{"num_ctx": 32, "num_predict": 5}, "length", 32, true},
		{"second turn", second, nil, "stop", 113, false},
		{"num_ctx cuts the history", second, map[string]any{"num_ctx": 104}, "stop", 58, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reply, err := chat(t, server, ollama.ChatRequest{Model: ollamatest.Tools, Tools: arithmetic(), Messages: test.messages, Options: test.options})
			if err != nil {
				t.Fatal(err)
			}
			if reply.DoneReason != test.reason || reply.PromptEvalCount != test.prompt {
				t.Errorf("reason %q with %d prompt tokens, want %q with %d", reply.DoneReason, reply.PromptEvalCount, test.reason, test.prompt)
			}
			size, ok := test.options["num_ctx"].(int)
			if overflow := ok && reply.PromptEvalCount+reply.EvalCount > size; overflow != test.overflow {
				t.Errorf("%d + %d tokens in a context of %d: overflow is %v", reply.PromptEvalCount, reply.EvalCount, size, overflow)
			}
		})
	}
}

// TestStopCutsAReply pins what the client makes of a connection that is cut.
func TestStopCutsAReply(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream %v", stream), func(t *testing.T) {
			server := ollamatest.StartOwn(t)
			request := ollama.ChatRequest{
				Model:    ollamatest.Tools,
				Stream:   &stream,
				Messages: []ollama.Message{{Role: "user", Content: prompt}},
				Format:   json.RawMessage(`{"type":"string"}`),
				Options:  map[string]any{"num_ctx": 2048, "num_predict": -1},
			}
			done, stopped := false, false
			if !stream {
				stopped = true
				time.AfterFunc(time.Second, server.Stop)
			}
			err := client(t, server).Chat(context.Background(), &request, func(r ollama.ChatResponse) error {
				if !stopped {
					stopped = true
					server.Stop()
				}
				done = done || r.Done
				return nil
			})
			if (err == nil) != stream || done {
				t.Errorf("the error is %v and done is %v", err, done)
			}
		})
	}
}

func TestUnknownModelIsNotFound(t *testing.T) {
	_, err := chat(t, ollamatest.Start(t), ollama.ChatRequest{Model: "no-such-model"})
	var status ollama.StatusError
	if !errors.As(err, &status) || status.StatusCode != http.StatusNotFound {
		t.Errorf("got %v, want status 404", err)
	}
}
