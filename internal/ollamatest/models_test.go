package ollamatest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	ollama "github.com/ollama/ollama/api"

	"toolgym/internal/ollamatest"
)

const prompt = "Compute 4*2+7. Use the tools, then call answer with the result."

// chat asks for one whole reply at temperature 0. The request's options win.
func chat(t *testing.T, server *ollamatest.Server, request ollama.ChatRequest) (ollama.ChatResponse, error) {
	t.Helper()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	options := map[string]any{"temperature": 0, "num_ctx": 2048}
	for name, value := range request.Options {
		options[name] = value
	}
	stream := false
	request.Options, request.Stream = options, &stream
	if request.Messages == nil {
		request.Messages = []ollama.Message{{Role: "user", Content: prompt}}
	}
	var reply ollama.ChatResponse
	err = ollama.NewClient(u, http.DefaultClient).Chat(context.Background(), &request, func(r ollama.ChatResponse) error {
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
	tests := []struct {
		name    string
		options map[string]any
		reason  string
		prompt  int
	}{
		{"none", nil, "stop", 92},
		{"num_predict cuts the reply", map[string]any{"num_predict": 5}, "length", 92},
		{"num_ctx cuts the prompt", map[string]any{"num_ctx": 32, "num_predict": 5}, "length", 32},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reply, err := chat(t, server, ollama.ChatRequest{Model: ollamatest.Tools, Tools: arithmetic(), Options: test.options})
			if err != nil {
				t.Fatal(err)
			}
			if reply.DoneReason != test.reason || reply.PromptEvalCount != test.prompt {
				t.Errorf("reason %q with %d prompt tokens, want %q with %d", reply.DoneReason, reply.PromptEvalCount, test.reason, test.prompt)
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
