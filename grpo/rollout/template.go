package rollout

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// ownTemplate is for models that have none: ChatML, which most models have seen.
const ownTemplate = `{{- range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
`

// chatTemplate is a model's template, and what it knows of.
type chatTemplate struct {
	parsed   *template.Template
	messages bool // it ranges over messages; older ones have Prompt and Response
	tools    bool // it shows tools by itself
}

// parseTemplate reads a model's template. One that only passes the prompt on
// counts as none.
func parseTemplate(text string) (*chatTemplate, error) {
	if plain := strings.Join(strings.Fields(text), ""); plain == "" || plain == "{{.Prompt}}" {
		text = ownTemplate
	}
	if len(text) > mostTemplate {
		return nil, unusable("it has %d bytes, at most %d are read", len(text), mostTemplate)
	}
	parsed, err := template.New("model").Option("missingkey=zero").Funcs((&execution{}).functions()).Parse(text)
	if err != nil {
		return nil, unusable("%v", err)
	}
	if name := recursive(parsed); name != "" {
		return nil, unusable("the template %.80q in it calls itself", name)
	}
	if err := instrument(parsed); err != nil {
		return nil, err
	}
	mentions := func(field string) bool { return regexp.MustCompile(`\.` + field + `\b`).MatchString(text) }
	return &chatTemplate{parsed: parsed, messages: mentions("Messages"), tools: mentions("Tools")}, nil
}

// unusable refuses a model's template.
func unusable(format string, args ...any) error {
	return refusal.New("template", "the chat route for this model", "the model's template cannot be used: "+format, args...)
}

// render executes the template on a conversation. Tools that the template does
// not know of go into the system message.
func (t *chatTemplate) render(ctx context.Context, messages []templateMessage, set tools.Set) (string, error) {
	if !t.tools && len(set) > 0 {
		messages = announce(messages, set)
	}
	system, messages := collate(messages)
	e := &execution{ctx: ctx}
	if !t.messages {
		return t.renderTurns(e, system, messages)
	}
	values := map[string]any{"System": system, "Messages": messages, "Tools": templateTools(set), "Response": "", "Think": false, "ThinkLevel": "", "IsThinkSet": false}
	if err := e.run(t.parsed, values); err != nil {
		return "", err
	}
	return e.prompt.String(), nil
}

// renderTurns executes a template of the older form, once for each exchange,
// and the last time only as far as the response.
func (t *chatTemplate) renderTurns(e *execution, system string, messages []templateMessage) (string, error) {
	var (
		turn = map[string]any{"System": system, "Prompt": "", "Response": ""}
		open = false
	)
	flush := func(with *template.Template) error {
		err := e.run(with, turn)
		turn, open = map[string]any{"System": "", "Prompt": "", "Response": ""}, false
		return err
	}
	for _, m := range messages {
		switch m.Role {
		case "system":
			continue
		case "assistant":
			turn["Response"], open = m.Content, true
			continue
		}
		if open {
			if err := flush(t.parsed); err != nil {
				return "", err
			}
		}
		turn["Prompt"] = m.Content
	}
	last, err := t.upToResponse()
	if err == nil {
		err = flush(last)
	}
	if err != nil {
		return "", err
	}
	return e.prompt.String(), nil
}

// upToResponse is the template without the response and what follows it.
func (t *chatTemplate) upToResponse() (*template.Template, error) {
	root := t.parsed.Root.CopyList()
	for i, node := range root.Nodes {
		if strings.Contains(node.String(), ".Response") {
			root.Nodes = root.Nodes[:i]
			break
		}
	}
	copied, err := t.parsed.Clone()
	if err != nil {
		return nil, fmt.Errorf("copying the model's template: %w", err)
	}
	return copied.AddParseTree("last", &parse.Tree{Name: "last", Root: root})
}

// announce adds the tools to the system message as the hermes family has it.
func announce(messages []templateMessage, set tools.Set) []templateMessage {
	var b strings.Builder
	b.WriteString("You may call tools. These are their signatures:\n<tools>\n")
	for _, tool := range templateTools(set) {
		b.WriteString(tool.String() + "\n")
	}
	b.WriteString("</tools>\nFor each call write one JSON object within tags:\n<tool_call>\n{\"name\": \"NAME\", \"arguments\": {…}}\n</tool_call>")
	return append([]templateMessage{{Role: "system", Content: b.String()}}, messages...)
}

// collate joins what the same role says in a row, tools apart, and returns all
// that the system says beside.
func collate(messages []templateMessage) (system string, list []templateMessage) {
	var said []string
	for _, m := range messages {
		if m.Role == "system" {
			said = append(said, m.Content)
		}
		if last := len(list) - 1; last >= 0 && list[last].Role == m.Role && m.Role != "tool" {
			list[last].Content += "\n\n" + m.Content
			continue
		}
		list = append(list, m)
	}
	return strings.Join(said, "\n\n"), list
}
