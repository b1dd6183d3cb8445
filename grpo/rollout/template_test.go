package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
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
			got, err := rollout.Raw{Template: test.template}.Prompt(t.Context(), test.task, adder(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" && (!strings.HasPrefix(got, test.want) || !strings.Contains(test.want, "You may")) {
				t.Error(diff)
			}
			if again, err := (rollout.Raw{Template: test.template}).Prompt(t.Context(), test.task, adder(t)); err != nil || again != got {
				t.Errorf("the same task gave another prompt: %v", err)
			}
		})
	}
}

func TestAnOlderTemplateGetsTheConversationTurnByTurn(t *testing.T) {
	const template = `{{ if .System }}S:{{ .System }};{{ end }}{{ if .Prompt }}U:{{ .Prompt }};{{ end }}A:{{ .Response }}END `
	got, err := rollout.Raw{Template: template}.Prompt(t.Context(), prompt("system", "user", "assistant", "user"), nil)
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
		if _, err := (rollout.Raw{Template: template}).Prompt(t.Context(), prompt("user"), nil); !errors.As(err, &refused) || refused.Code != tools.Invalid {
			t.Errorf("%s: got %v", template, err)
		}
	}
}

// A template is somebody else's program. Whatever it does, it ends within its
// limits, in little memory, with a reason.
func TestHostileTemplates(t *testing.T) {
	double := "{{$x := .Messages | json}}" + strings.Repeat(`{{$x = printf "%s%s" $x $x}}`, 60)
	levels := `{{define "t0"}}x{{end}}`
	for i := range 40 {
		levels += fmt.Sprintf(`{{define "t%d"}}{{template "t%d" .}}{{template "t%d" .}}{{end}}`, i+1, i, i)
	}
	const long = `{{$x := "x"}}{{range 21}}{{$x = print $x $x}}{{end}}`
	for name, test := range map[string]struct{ template, want string }{
		"loop without a body":          {"{{.Messages}}{{range 100000000000}}{{end}}", "steps"},
		"loop of text":                 {"{{.Messages}}{{range 100000000000}}xxxxxxxxxxxxxxxxxxxxxxxx{{end}}", "bytes"},
		"loop of an empty body":        {"{{.Messages}}{{range 100000000000}}{{continue}}{{end}}", "steps"},
		"loops in loops":               {"{{.Messages}}" + strings.Repeat("{{range 100000}}", 20) + strings.Repeat("{{end}}", 20), "steps"},
		"loop of branches":             {"{{.Messages}}{{range $i := 100000000000}}{{if $i}}{{else}}{{end}}{{end}}", "steps"},
		"loop in an older template":    {"{{.Prompt}}{{range 100000000000}}{{end}}{{.Response}}", "steps"},
		"a template that calls itself": {`{{define "a"}}{{template "b" .}}{{end}}{{define "b"}}{{if .}}{{template "a" .}}{{end}}{{end}}{{.Messages}}{{template "a" .}}`, "calls itself"},
		"calls that double":            {levels + `{{.Messages}}{{template "t40" .}}`, "steps"},
		"texts that double":            {double, "bytes"},
		"print that doubles":           {"{{.Messages}}{{$x := \"xx\"}}{{range 60}}{{$x = print $x $x}}{{end}}", "bytes"},
		"println that doubles":         {"{{.Messages}}{{$x := \"xx\"}}{{range 60}}{{$x = println $x $x}}{{end}}", "bytes"},
		"html":                         {"{{.Messages}}" + strings.Replace(long, "x\"", "<\"", 1) + "{{$x = html $x}}", "bytes"},
		"js":                           {"{{.Messages}}" + long + "{{$x = js $x}}", "bytes"},
		"urlquery":                     {"{{.Messages}}" + long + "{{$x = urlquery $x}}", "bytes"},
		"many texts":                   {"{{.Messages}}" + long + "{{range 1000}}{{$y := print $x}}{{end}}", "bytes"},
		"a wide verb":                  {`{{.Messages}}{{printf "%1000000000d" 1}}`, "width"},
		"many wide verbs":              {`{{.Messages}}{{printf "` + strings.Repeat("%999[1]d", 12_000) + `" 1}}`, "bytes"},
		"a width from an argument":     {`{{.Messages}}{{printf "%*d" 1000000 1}}`, "width"},
		"one argument many times":      {`{{.Messages}}` + long + `{{printf "` + strings.Repeat("%[1]s", 10_000) + `" $x}}`, "bytes"},
		"an index out of range":        {`{{.Messages}}{{index .Messages 5000}}`, "index out of range"},
		"a slice out of range":         {`{{.Messages}}{{slice "abc" 2 900}}`, "out of range"},
		"a function that is unknown":   {`{{.Messages}}{{exec "rm"}}`, "not defined"},
		"parentheses":                  {`{{.Messages}}{{if ` + strings.Repeat("(", 40_000) + `1`, "depth"},
		"ten megabytes":                {"{{.Messages}}" + strings.Repeat("x", 10<<20), "at most 131072"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rollout.Raw{Template: test.template}.Prompt(t.Context(), prompt("user"), adder(t))
			if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 200_000 {
				t.Errorf("error %.300v; want one that says %q", err, test.want)
			}
		})
	}
	deep := "{{.Messages}}" + strings.Repeat("{{if 1}}", 8000) + "deep" + strings.Repeat("{{end}}", 8000)
	if got, err := (rollout.Raw{Template: deep}).Prompt(t.Context(), prompt("user"), nil); err != nil || !strings.HasSuffix(got, "deep") {
		t.Errorf("8000 nested conditions: %.100s, %.300v", got, err)
	}
}

// A template honours its context, and its failure is the harness's.
func TestATemplateThatFailsInATrial(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	loop := rollout.Raw{Config: config("http://127.0.0.1:1"), Template: "{{.Messages}}{{range 100000000000}}{{end}}"}
	if _, err := loop.Prompt(ended, prompt("user"), adder(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	got, err := loop.Run(t.Context(), &sums{set: adder(t)}, prompt("user"), 1)
	if err != nil || got.Failure == nil || got.Failure.Kind != grpo.FailureHarness || !strings.Contains(got.Failure.Reason, "over 1000000 steps") {
		t.Errorf("failure %+v, %v", got.Failure, err)
	}
}

// An older template keeps the templates that it defines up to the response.
func TestAnOlderTemplateThatDefinesAnother(t *testing.T) {
	const template = `{{define "u"}}U:{{ .Prompt }};{{end}}{{ template "u" . }}A:{{ .Response }}END `
	got, err := rollout.Raw{Template: template}.Prompt(t.Context(), prompt("user", "assistant", "user"), nil)
	if err != nil || got != "U:USER;A:ASSISTANTEND U:USER;A:" {
		t.Errorf("got %q, %v", got, err)
	}
}
