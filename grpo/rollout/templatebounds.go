package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// A model's template is a program of somebody else's. These are the limits of
// one execution.
const (
	mostTemplate  = 128 << 10 // bytes of the template's text
	mostSteps     = 1_000_000 // actions, those in the bodies of loops included
	mostPrompt    = 4 << 20   // bytes of the prompt, and of one value of a function
	mostFormatted = 64 << 20  // bytes of all values of functions together
	mostWidth     = 1000      // of one verb of printf
)

// errTemplate says that the model's template is at fault.
var errTemplate = errors.New("executing the model's template")

// stepName is the function that counts steps. Its name is not Ollama's, and a
// template that calls it itself counts one more.
const stepName = "toolgym_step"

// instrument puts a step in front of every action of the tree and at the
// beginning of every body, an empty one included, so that no loop runs without
// steps.
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

// recursive finds a template that calls itself, directly or through others: its
// depth would be bounded by the stack alone. The name is empty where there is
// none.
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

// Write adds to the prompt.
func (e *execution) Write(text []byte) (int, error) {
	if e.prompt.Len()+len(text) > mostPrompt {
		return 0, fmt.Errorf("the prompt is over %d bytes", mostPrompt)
	}
	return e.prompt.Write(text)
}

// run executes a template; what it writes is added to the prompt.
func (e *execution) run(t *template.Template, values any) error {
	bound, err := t.Clone()
	if err == nil {
		err = bound.Funcs(e.functions()).Execute(e, values)
	}
	switch {
	case e.ctx.Err() != nil:
		return fmt.Errorf("%w: it did not end in time: %w", errTemplate, e.ctx.Err())
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

// value is the value of a function, counted.
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

// functions are those that Ollama offers to templates, and those of package
// text/template that make texts, each within the limits. Dates are left out of
// the prompt: the same task must give the same prompt on every day.
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

// sizeOf is how many bytes the arguments are when they are printed.
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
