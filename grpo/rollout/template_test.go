package rollout_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// adder is a set with one tool whose schema says more than Ollama's type holds.
func adder(t testing.TB) tools.Set {
	t.Helper()
	add, err := tools.Declare("add", "Adds.", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","description":"Left.","minimum":1},"b":{"type":["integer","null"]}},"required":["a"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	return tools.Set{add}
}

func prompt(roles ...string) tools.Task {
	task := tools.Task{ID: "own/0/1"}
	for _, role := range roles {
		task.Prompt = append(task.Prompt, tools.Message{Role: role, Content: strings.ToUpper(role)})
	}
	return task
}

// Every form that a template may take; the first is llama 3's idea of tools,
// the third is the older form without messages.
func TestTemplates(t *testing.T) {
	tests := []struct {
		name, template string
		task           tools.Task
		want           string
	}{
		{"messages and whole tools", `{{ range .Tools }}{{ . }}|{{ json .Function }}|{{ .Function.Parameters }}{{ end }}{{ range $i, $m := .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}<assistant>`, prompt("system", "user"),
			`{"type":"function","function":{"name":"add","description":"Adds.","parameters":{"type":"object","properties":{"a":{"type":"integer","description":"Left.","minimum":1},"b":{"type":["integer","null"]}},"required":["a"],"additionalProperties":false}}}|` +
				`{"name":"add","description":"Adds.","parameters":{"type":"object","properties":{"a":{"type":"integer","description":"Left.","minimum":1},"b":{"type":["integer","null"]}},"required":["a"],"additionalProperties":false}}|` +
				`{"type":"object","properties":{"a":{"type":"integer","description":"Left.","minimum":1},"b":{"type":["integer","null"]}},"required":["a"],"additionalProperties":false}` +
				`<system>SYSTEM<user>USER<assistant>`},
		{"parts of tools", `{{ range .Tools }}{{ with .Function }}{{ .Name }}({{ range $n, $p := .Parameters.Properties }}{{ $n }}: {{ toTypeScriptType $p }} {{ $p.Description }},{{ end }}) {{ .Parameters.Required }}{{ end }}{{ end }}{{ range .Messages }}{{ end }}`, prompt("user"),
			`add(a: number Left.,b: number | null ,) [a]`},
		{"older form, tools announced", `{{ if .System }}S:{{ .System }};{{ end }}{{ if .Prompt }}U:{{ .Prompt }};{{ end }}A:{{ .Response }}END`, prompt("user"), "S:You may call tools"},
		{"same roles are joined", `{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}{{ if .Tools }}{{ end }}`, prompt("user", "user"), "<user>USER\n\nUSER"},
		{"none: ours", ``, prompt("user"), "<|im_start|>system\nYou may call tools"},
		{"passing the prompt on: ours", `{{ .Prompt }}`, prompt("user"), "<|im_start|>system\nYou may call tools"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := rollout.Raw{Template: test.template}.Prompt(test.task, adder(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" && (!strings.HasPrefix(got, test.want) || !strings.Contains(test.want, "You may")) {
				t.Error(diff)
			}
			if again, err := (rollout.Raw{Template: test.template}).Prompt(test.task, adder(t)); err != nil || again != got {
				t.Errorf("the same task gave another prompt: %v", err)
			}
		})
	}
}

func TestAnOlderTemplateGetsTheConversationTurnByTurn(t *testing.T) {
	const template = `{{ if .System }}S:{{ .System }};{{ end }}{{ if .Prompt }}U:{{ .Prompt }};{{ end }}A:{{ .Response }}END `
	got, err := rollout.Raw{Template: template}.Prompt(prompt("system", "user", "assistant", "user"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "S:SYSTEM;U:USER;A:ASSISTANTEND U:USER;A:"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestABrokenTemplateIsRefused(t *testing.T) {
	for _, template := range []string{`{{ range`, `{{ nosuchfunction . }}`} {
		var refused *tools.Error
		if _, err := (rollout.Raw{Template: template}).Prompt(prompt("user"), nil); !errors.As(err, &refused) || refused.Code != tools.Invalid {
			t.Errorf("%s: got %v", template, err)
		}
	}
}
