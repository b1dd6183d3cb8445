package plugin_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"toolgym/grpo/parse"
	"toolgym/plugin"
)

// TestAgentReadsCallsWrittenAsText: a model whose server does not read its
// calls. The text stays as the model wrote it.
func TestAgentReadsCallsWrittenAsText(t *testing.T) {
	add := `<tool_call>` + "\n" + `{"name": "add", "arguments": {"a": 1, "b": 2}}` + "\n" + `</tool_call>`
	tests := []struct {
		name, text string
		family     parse.Family
		output     string
		want       []string // what the model is shown besides its own text
	}{
		{"a call", add, "", "done", []string{`tool add={"result":3}`}},
		{"two calls behind prose", "Both.\n" + add + "\n" + add, "", "done", []string{`tool add={"result":3}`, `tool add={"result":3}`}},
		{"a call of its own family", `[add(a=1, b=2)]`, parse.Pythonic, "done", []string{`tool add={"result":3}`}},
		{"a call that is cut off", `<tool_call>{"name": "add", "arguments": {"a": 1,`, "", "done", []string{"this call can not be read: "}},
		{"an unknown tool", `<tool_call>{"name": "sum", "arguments": {}}</tool_call>`, "", "done", []string{`unknown tool \"sum\"`}},
		{"no call", "It is 3.", "", "It is 3.", nil},
		{"a call only in the reasoning", "<think>" + add + "</think>It is 3.", "", "It is 3.", nil},
	}
	for _, test := range tests {
		for way, run := range runners() {
			t.Run(test.name+" "+way, func(t *testing.T) {
				noLeak(t)
				model := &script{lines: []llms.ContentChoice{says(test.text)}}
				agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, workshop()), Family: test.family})
				output, err := run(t.Context(), agent, "go")
				if err != nil || output != test.output {
					t.Fatalf("got %q, %v", output, err)
				}
				if test.want == nil {
					return
				}
				lines := transcript(model.asked[1])
				if diff := cmp.Diff([]string{"human go", "ai " + test.text}, lines[:2]); diff != "" {
					t.Error(diff)
				}
				if len(lines) != 2+len(test.want) {
					t.Fatalf("got %q", lines)
				}
				for i, want := range test.want {
					if !strings.Contains(lines[2+i], want) {
						t.Errorf("got %s, want …%s…", lines[2+i], want)
					}
				}
			})
		}
	}
}

// TestAgentMendsWhatTheServerCouldNotRead replays Ollama's answer to a call
// that is no JSON.
func TestAgentMendsWhatTheServerCouldNotRead(t *testing.T) {
	tests := []struct {
		name, body, want string
		status           int
		fails            bool
	}{
		{"a quoted call", `{"error":"error parsing tool call: raw='{\"name\": \"add\", \"arguments\": {\"a\": 1', err=unexpected end of JSON input"}`,
			"this call can not be read: error parsing tool call", 500, false},
		{"another error", `{"error":"llama runner process has terminated"}`, "", 500, true},
		{"our own mistake", `{"error":"json: cannot unmarshal {\"name\":\"add\"}"}`, "", 400, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			broken, _ := replay(t, test.status, test.body)
			_, failure := broken.GenerateContent(t.Context(), human("go"))
			model := &script{fails: map[int]error{0: failure}}
			_, err := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, workshop())}).Run(t.Context(), "go")
			if (err != nil) != test.fails {
				t.Fatal(err)
			}
			if test.fails {
				return
			}
			if lines := transcript(model.asked[1]); !strings.Contains(lines[len(lines)-1], test.want) {
				t.Errorf("got %q", lines)
			}
		})
	}
}
