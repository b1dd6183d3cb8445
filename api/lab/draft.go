package lab

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// A draft is what the form of the playground holds.
type draft struct {
	Text     string
	As       string // text: what the model wrote; message: what a server made of it, a chat message in JSON
	Family   parse.Family
	Finish   string // stop or length
	From     string // env/level whose tools are declared; empty: those of Tools
	Tools    string // JSON
	Task     string // id of a task to be graded against; empty: by Expected
	Expected string // JSON
}

// draftFields are the names of the form's own fields; all others are settings.
func draftFields() []string {
	return []string{"text", "as", "family", "finish", "from", "tools", "task", "expected", "example", "audit"}
}

// apart takes the playground's own fields out of what a form sent.
func apart(form url.Values) (own, settings url.Values) {
	own, settings = url.Values{}, url.Values{}
	for name, values := range form {
		if slices.Contains(draftFields(), name) {
			own[name] = values
		} else {
			settings[name] = values
		}
	}
	return own, settings
}

// draftOf reads the fields. Browsers send the lines of a text with carriage
// returns, which is not part of the text; bytes that are no text cannot be shown.
func draftOf(form url.Values) draft {
	text := func(name string) string {
		return strings.ToValidUTF8(strings.ReplaceAll(form.Get(name), "\r\n", "\n"), "\uFFFD")
	}
	return draft{Text: text("text"), As: form.Get("as"), Family: parse.Family(form.Get("family")), Finish: form.Get("finish"), From: form.Get("from"),
		Tools: text("tools"), Task: strings.TrimSpace(form.Get("task")), Expected: text("expected")}
}

// faults are what is wrong with the fields of a form, in words, by their names.
type faults map[string]string

// note keeps the first fault of a field. An error that is not the caller's is
// returned.
func (f faults) note(field string, err error) error {
	e, ok := errors.AsType[*tools.Error](err)
	if !ok {
		return err
	}
	text := sentence(e.Message)
	if e.Where != "" && e.Where != field && e.Where != "/" {
		text = e.Where + ": " + e.Message + "."
	}
	if e.Want != "" {
		text += " Want " + e.Want + "."
	}
	if f[field] == "" {
		f[field] = text
	}
	return nil
}

// declared finds the tools that the model is said to have had.
func (l *Lab) declared(d draft, wrong faults) (tools.Set, error) {
	switch {
	case d.Task != "":
		if d.From == "" && strings.TrimSpace(d.Tools) != "" {
			wrong["task"] = "A task brings its own tools. Want no tools pasted, or no task."
			return nil, nil
		}
		spec, task, err := l.config.Specs.Task(d.Task)
		if err != nil {
			return nil, wrong.note("task", withoutPlace(err))
		}
		return spec.Tools(task.Rules, task.Level), nil
	case d.From != "":
		name, level, _ := strings.Cut(d.From, "/")
		spec, err := l.config.Specs.Lookup(name)
		if err != nil {
			return nil, wrong.note("from", withoutPlace(err))
		}
		if !slices.Contains(spec.Levels, level) {
			return nil, wrong.note("from", refusal.New("", "one of the list", "%s has no level %.40q", name, level))
		}
		return spec.Tools("", level), nil
	case strings.TrimSpace(d.Tools) == "":
		return nil, nil
	}
	if err := wellFormed(d.Tools); err != nil {
		return nil, wrong.note("tools", err)
	}
	set, err := l.config.Desk.Tools([]byte(d.Tools))
	if err != nil {
		return nil, wrong.note("tools", err)
	}
	return set, nil
}

// withoutPlace is an error without the name of a parameter that people do not see.
func withoutPlace(err error) error {
	if e, ok := errors.AsType[*tools.Error](err); ok {
		return &tools.Error{Code: e.Code, Message: e.Message, Want: e.Want}
	}
	return err
}

// wellFormed says at which line JSON goes wrong.
func wellFormed(text string) error {
	_, err := strictjson.Decode([]byte(text))
	e, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	measure := ruler{text: text}
	line, column := measure.measure(e.Offset)
	return refusal.New("", "", "it is no JSON, line %d, column %d: %s", line, column, e.Message)
}

// expected reads what a right completion does: a list of calls, or the whole
// object that /v1/score takes.
func (d draft) expected() (*match.Expected, error) {
	text := strings.TrimSpace(d.Expected)
	if err := wellFormed(d.Expected); err != nil {
		return nil, err
	}
	if strings.HasPrefix(text, "[") {
		text = `{"calls":` + text + `}`
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	expected := &match.Expected{}
	err := decoder.Decode(expected)
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, refusal.New("/"+strings.ReplaceAll(e.Field, ".", "/"), kindWord(e.Type.Kind().String()), "%s does not fit", e.Value)
	}
	if e := (*tools.Error)(nil); err != nil && !errors.As(err, &e) {
		return nil, refusal.New("", `[{"name": …, "arguments": {…}}], or an object with calls, order, extra, match and answer`, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return expected, err
}

// kindWord calls a kind of Go by its name in JSON.
func kindWord(kind string) string {
	switch kind {
	case "struct", "map":
		return "an object"
	case "slice":
		return "a list"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	}
	return kind
}

// whereOf is the place that a caller's mistake names.
func whereOf(err error) string {
	if e, ok := errors.AsType[*tools.Error](err); ok {
		return e.Where
	}
	return ""
}
