package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// ownTemplate is for models without a template: ChatML, which most models were
// trained on.
const ownTemplate = `{{- range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
`

// chatTemplate is a model's template, and the features it uses.
type chatTemplate struct {
	parsed   *template.Template
	messages bool // it uses Messages; older templates use Prompt and Response
	tools    bool // it uses Tools
}

// parseTemplate parses a model's template. One that only passes the prompt on
// counts as none.
func parseTemplate(text string) (*chatTemplate, error) {
	if plain := strings.Join(strings.Fields(text), ""); plain == "" || plain == "{{.Prompt}}" {
		text = ownTemplate
	}
	if len(text) > mostTemplate {
		return nil, unusable("got %d bytes; expected at most %d", len(text), mostTemplate)
	}
	parsed, err := template.New("model").Option("missingkey=zero").Funcs((&execution{}).functions()).Parse(text)
	if err != nil {
		return nil, unusable("%v", err)
	}
	if name := recursive(parsed); name != "" {
		return nil, unusable("its template %.80q calls itself", name)
	}
	if err := instrument(parsed); err != nil {
		return nil, err
	}
	mentions := func(field string) bool { return regexp.MustCompile(`\.` + field + `\b`).MatchString(text) }
	return &chatTemplate{parsed: parsed, messages: mentions("Messages"), tools: mentions("Tools")}, nil
}

// unusable is the error for a model's template.
func unusable(format string, args ...any) error {
	return refusal.New("template", "the chat route for this model", "invalid template of the model: "+format, args...)
}

// render executes the template on a conversation. If the template does not use
// tools, they are listed in the system message.
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

// renderTurns executes a template of the older form once per exchange, the last
// time up to the response.
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

// upToResponse returns the template without the response and the text after it.
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

// announce adds the tools to the system message in the form of the hermes
// family.
func announce(messages []templateMessage, set tools.Set) []templateMessage {
	var b strings.Builder
	b.WriteString("You may call tools. These are their signatures:\n<tools>\n")
	for _, tool := range templateTools(set) {
		b.WriteString(tool.String() + "\n")
	}
	b.WriteString("</tools>\nFor each call write one JSON object within tags:\n<tool_call>\n{\"name\": \"NAME\", \"arguments\": {…}}\n</tool_call>")
	return append([]templateMessage{{Role: "system", Content: b.String()}}, messages...)
}

// collate joins consecutive messages of one role, except results of tools, and
// also returns all system messages as one text.
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

// A model's template is an untrusted program. These are the limits of one
// execution.
const (
	mostTemplate  = 128 << 10 // bytes of the template's text
	mostSteps     = 1_000_000 // actions, including those in the bodies of loops
	mostPrompt    = 4 << 20   // bytes of the prompt, and of one value of a function
	mostFormatted = 64 << 20  // bytes of all values of functions together
	mostWidth     = 1000      // of one verb of printf
)

// errTemplate is the error of executing a model's template.
var errTemplate = errors.New("executing the model's template")

// stepName is the function that counts steps. Ollama has no function of that
// name, and a template that calls it counts one more step.
const stepName = "toolgym_step"

// instrument inserts a step before every action and at the beginning of every
// body, also of an empty one, so that no loop runs without steps.
func instrument(t *template.Template) error {
	counter, err := template.New("step").Funcs(template.FuncMap{stepName: func() string { return "" }}).Parse("{{" + stepName + "}}")
	if err != nil {
		return fmt.Errorf("parsing the step: %w", err)
	}
	step := counter.Root.Nodes[0]
	for _, defined := range t.Templates() {
		if defined.Tree != nil {
			countIn(defined.Root, step)
		}
	}
	return nil
}

func countIn(list *parse.ListNode, step parse.Node) {
	if list == nil {
		return
	}
	nodes := []parse.Node{step}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode, *parse.TemplateNode:
			nodes = append(nodes, step)
		case *parse.IfNode:
			nodes = append(nodes, step)
			countBranch(&n.BranchNode, step)
		case *parse.WithNode:
			nodes = append(nodes, step)
			countBranch(&n.BranchNode, step)
		case *parse.RangeNode:
			nodes = append(nodes, step)
			countBranch(&n.BranchNode, step)
		}
		nodes = append(nodes, node)
	}
	list.Nodes = nodes
}

func countBranch(n *parse.BranchNode, step parse.Node) {
	countIn(n.List, step)
	countIn(n.ElseList, step)
}

// recursive returns the name of a template that calls itself, directly or
// through others, or "": its depth would be limited by the stack only.
func recursive(t *template.Template) string {
	const open, done = 1, 2
	calls, state := map[string][]string{}, map[string]int{}
	for _, defined := range t.Templates() {
		if defined.Tree != nil {
			calls[defined.Name()] = called(defined.Root, nil)
		}
	}
	var visit func(name string) string
	visit = func(name string) string {
		switch state[name] {
		case open:
			return name
		case done:
			return ""
		}
		state[name] = open
		for _, next := range calls[name] {
			if found := visit(next); found != "" {
				return found
			}
		}
		state[name] = done
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if found := visit(name); found != "" {
			return found
		}
	}
	return ""
}

// called lists the templates that a body calls.
func called(list *parse.ListNode, names []string) []string {
	if list == nil {
		return names
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.TemplateNode:
			names = append(names, n.Name)
		case *parse.IfNode:
			names = called(n.ElseList, called(n.List, names))
		case *parse.WithNode:
			names = called(n.ElseList, called(n.List, names))
		case *parse.RangeNode:
			names = called(n.ElseList, called(n.List, names))
		}
	}
	return names
}

// An execution is one run of a template within its limits.
type execution struct {
	ctx       context.Context //nolint:containedctx // functions of templates get none
	prompt    bytes.Buffer
	steps     int
	formatted int
}

// Write appends to the prompt.
func (e *execution) Write(text []byte) (int, error) {
	if e.prompt.Len()+len(text) > mostPrompt {
		return 0, fmt.Errorf("the prompt has over %d bytes", mostPrompt)
	}
	return e.prompt.Write(text)
}

// run executes a template and appends its output to the prompt.
func (e *execution) run(t *template.Template, values any) error {
	bound, err := t.Clone()
	if err == nil {
		err = bound.Funcs(e.functions()).Execute(e, values)
	}
	switch {
	case e.ctx.Err() != nil:
		return fmt.Errorf("%w: time limit: %w", errTemplate, e.ctx.Err())
	case err != nil:
		return fmt.Errorf("%w: %w", errTemplate, err)
	}
	return nil
}

// step counts one action.
func (e *execution) step() (string, error) {
	if e.steps++; e.steps > mostSteps {
		return "", fmt.Errorf("over %d steps", mostSteps)
	}
	return "", e.ctx.Err()
}

// value counts and returns the value of a function.
func (e *execution) value(text string) (string, error) {
	if len(text) > mostPrompt {
		return "", fmt.Errorf("a text over %d bytes", mostPrompt)
	}
	return text, e.room(len(text))
}

// room counts bytes that a function is about to make, or has made.
func (e *execution) room(n int) error {
	if e.formatted += n; n > mostPrompt || e.formatted > mostFormatted {
		return fmt.Errorf("texts over %d bytes, or over %d together", mostPrompt, mostFormatted)
	}
	return e.ctx.Err()
}

// functions returns the functions of Ollama's templates, and those of package
// text/template that make texts, within the limits. Dates are left out of the
// prompt: the same task must give the same prompt on every day.
func (e *execution) functions() template.FuncMap {
	escaped := func(escape func(...any) string) func(...any) (string, error) {
		return func(args ...any) (string, error) {
			const most = 6 // bytes that one byte becomes, as \u003c
			if err := e.room(most * sizeOf(args)); err != nil {
				return "", err
			}
			return escape(args...), nil
		}
	}
	return template.FuncMap{
		stepName: e.step,
		"json": func(v any) (string, error) {
			text, err := json.Marshal(v)
			if err != nil {
				return "", err
			}
			return e.value(string(text))
		},
		"print":            e.joined(fmt.Sprint),
		"println":          e.joined(fmt.Sprintln),
		"printf":           e.printf,
		"html":             escaped(template.HTMLEscaper),
		"js":               escaped(template.JSEscaper),
		"urlquery":         escaped(template.URLQueryEscaper),
		"currentDate":      func(...string) string { return "" },
		"yesterdayDate":    func(...string) string { return "" },
		"toTypeScriptType": typeScript,
	}
}

// joined is print or println.
func (e *execution) joined(join func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		if err := e.room(sizeOf(args) + 2*len(args)); err != nil {
			return "", err
		}
		return join(args...), nil
	}
}

// printf is fmt.Sprintf for formats whose result is known to be bounded: each
// verb may use any of the arguments, and pads to its width.
func (e *execution) printf(format string, args ...any) (string, error) {
	number := 0
	for _, c := range format {
		if c < '0' || c > '9' {
			number = 0
			continue
		}
		if number = number*10 + int(c-'0'); number > mostWidth {
			return "", fmt.Errorf("printf: a width, precision or index over %d", mostWidth)
		}
	}
	verbs := strings.Count(format, "%")
	if strings.Contains(format, "*") {
		return "", errors.New("printf: a width from an argument")
	}
	longest, most := 0, 1
	for _, arg := range args {
		longest = max(longest, sizeOf([]any{arg}))
	}
	if strings.ContainsAny(format, "qxXU#+") {
		most = 10 // bytes that one byte becomes, as in a quoted text
	}
	// Each factor is bounded by the template's text and by mostPrompt, so that
	// the product is one of 64 bits.
	if bound := len(format) + sizeOf(args) + verbs*(mostWidth+32+longest*most); bound > mostFormatted {
		return "", fmt.Errorf("printf: a text that may be over %d bytes", mostFormatted)
	}
	return e.value(fmt.Sprintf(format, args...))
}

// sizeOf returns the size of the arguments when they are printed, in bytes.
func sizeOf(args []any) (n int) {
	for _, arg := range args {
		switch v := arg.(type) {
		case nil, bool, int, int64, float64:
			n += 32
		case string:
			n += len(v)
		default:
			n += len(fmt.Sprint(v))
		}
	}
	return n
}

// templateMessage is a message for templates.
type templateMessage struct {
	Role       string
	Content    string
	Thinking   string
	ToolCalls  []any // always empty: the calls of the model are in Content, as it wrote them
	ToolName   string
	ToolCallID string
	Images     []any
}

// templateTool is a tool for templates. Printed, or passed to json, it is the
// whole declaration of the tool.
type templateTool struct {
	Type     string
	Function templateFunction
	whole    tools.Tool
}

type templateFunction struct {
	Name        string
	Description string
	Parameters  templateParameters
	whole       tools.Tool
}

// templateParameters are the parts of a schema that templates use.
type templateParameters struct {
	Type       string
	Required   []string
	Properties templateProperties
	whole      json.RawMessage
}

type templateProperties map[string]templateProperty

type templateProperty struct {
	Type        templateType
	Description string
	Enum        []any
	Items       any
	whole       json.RawMessage
}

// templateType is a type's name, or several.
type templateType []string

func (t templateTool) MarshalJSON() ([]byte, error)       { return json.Marshal(t.whole) }
func (t templateTool) String() string                     { return asText(t) }
func (f templateFunction) String() string                 { return asText(f) }
func (p templateParameters) MarshalJSON() ([]byte, error) { return p.whole, nil }
func (p templateParameters) String() string               { return string(p.whole) }
func (p templateProperties) String() string               { return asText(p) }
func (p templateProperty) MarshalJSON() ([]byte, error)   { return p.whole, nil }
func (p templateProperty) String() string                 { return string(p.whole) }
func (t templateType) String() string                     { return strings.Join(t, " | ") }

// MarshalJSON returns the function part of the declaration.
func (f templateFunction) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(f.whole)
	if err != nil {
		return nil, err
	}
	var parts struct {
		Function json.RawMessage `json:"function"`
	}
	err = json.Unmarshal(text, &parts)
	return parts.Function, err
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", err)
	}
	return string(text)
}

// templateTools converts tools for a template.
func templateTools(set tools.Set) []templateTool {
	list := make([]templateTool, len(set))
	for i, tool := range set {
		f := templateFunction{Name: tool.Name, Description: tool.Description, Parameters: readParameters(tool.Parameters), whole: tool}
		list[i] = templateTool{Type: "function", Function: f, whole: tool}
	}
	return list
}

// readParameters reads the parts of a schema that templates use; the rest is
// only in the whole: schemas may have any form.
func readParameters(schema json.RawMessage) templateParameters {
	p := templateParameters{whole: schema, Properties: templateProperties{}}
	var parts map[string]json.RawMessage
	_ = json.Unmarshal(schema, &parts)
	_ = json.Unmarshal(parts["type"], &p.Type)
	_ = json.Unmarshal(parts["required"], &p.Required)
	var properties map[string]json.RawMessage
	_ = json.Unmarshal(parts["properties"], &properties)
	for name, text := range properties {
		p.Properties[name] = readProperty(text)
	}
	return p
}

func readProperty(text json.RawMessage) templateProperty {
	p := templateProperty{whole: text}
	var parts map[string]json.RawMessage
	_ = json.Unmarshal(text, &parts)
	_ = json.Unmarshal(parts["description"], &p.Description)
	_ = json.Unmarshal(parts["enum"], &p.Enum)
	_ = json.Unmarshal(parts["items"], &p.Items)
	var one string
	if json.Unmarshal(parts["type"], &one) == nil {
		p.Type = templateType{one}
	} else {
		_ = json.Unmarshal(parts["type"], (*[]string)(&p.Type))
	}
	return p
}

// typeScript returns the type of a property in TypeScript.
func typeScript(v any) string {
	p, ok := v.(templateProperty)
	if !ok || len(p.Type) == 0 {
		return "any"
	}
	names := make([]string, len(p.Type))
	for i, t := range p.Type {
		switch t {
		case "integer", "number":
			names[i] = "number"
		case "array":
			names[i] = "any[]"
		case "object":
			names[i] = "Record<string, any>"
		default:
			names[i] = t
		}
	}
	return strings.Join(names, " | ")
}
