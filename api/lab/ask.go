package lab

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toolgym/internal/atomicfile"
	"toolgym/internal/evaluation"
	"toolgym/tools"
)

// An ask is the form that begins an evaluation, and what was wrong with it.
type ask struct {
	Sent   url.Values
	Faults faults
	Models []string // of the Ollama servers
	Silent []string // servers that did not answer
	Agents []string // that play without a language model
	Specs  tools.Specs
}

// Fault is the place beside a field for what is wrong with it.
func (a ask) Fault(field string) slot { return slot{field, a.Faults[field]} }

// Value is what a field holds: what was sent, or the preset.
func (a ask) Value(field, preset string) string {
	if a.Sent == nil {
		return preset
	}
	return a.Sent.Get(field)
}

// Chosen reports whether a box is ticked.
func (a ask) Chosen(field, value string, preset bool) bool {
	if a.Sent == nil {
		return preset
	}
	return slices.Contains(a.Sent[field], value)
}

// ask asks the Ollama servers what they have.
func (l *Lab) ask(ctx context.Context) ask {
	form := ask{Faults: faults{}, Agents: evaluation.Agents(), Specs: l.config.Specs}
	known, silent := l.models.list(ctx)
	form.Silent = silent
	for _, m := range known {
		form.Models = append(form.Models, m.Name)
	}
	return form
}

// beginEvaluation begins one by the code of POST /v1/evals, and goes on to its
// page. A refusal is told beside the field that it is about.
func (l *Lab) beginEvaluation(w http.ResponseWriter, r *http.Request) error {
	if l.config.Evals == nil {
		return &tools.Error{Code: tools.Conflict, Message: "this server keeps everything in memory, and no evaluations", Want: "a server with a data folder"}
	}
	form, err := l.sent(w, r)
	if err != nil {
		return err
	}
	wrong := faults{}
	request := asked(form, wrong)
	if len(wrong) == 0 {
		state, err := l.config.Evals.Begin(r.Context(), request)
		if err == nil {
			http.Redirect(w, r, evaluationPath(state.Name), http.StatusSeeOther)
			return nil
		}
		if atomicfile.IsFull(err) { // not a fault of a field
			return err
		}
		if err := wrong.note(fieldOf(err), withoutPlace(err)); err != nil {
			return err
		}
	}
	page := shelf{Kept: true, Form: l.ask(r.Context())}
	page.Form.Sent, page.Form.Faults = form, wrong
	if err := l.fillShelf(r.Context(), &page); err != nil {
		return err
	}
	return l.showAs(w, r, http.StatusUnprocessableEntity, "evaluations", "Evaluations", page)
}

// asked is the request of a form. What is no number is a fault of its field.
func asked(form url.Values, wrong faults) evaluation.Request {
	number := func(field string) int {
		text := strings.TrimSpace(form.Get(field))
		if text == "" {
			return 0
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1_000_000 {
			wrong[field] = "A whole number from 1 to 1000000, please."
		}
		return n
	}
	request := evaluation.Request{Run: strings.TrimSpace(form.Get("run")), Envs: form["envs"], N: number("n"), Trials: number("trials"),
		Levels: strings.FieldsFunc(form.Get("levels"), func(c rune) bool { return c == ',' || c == ' ' })}
	route, model, _ := strings.Cut(form.Get("model"), ":")
	request.Route, request.Model = route, model
	if text := strings.TrimSpace(form.Get("seed")); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			wrong["seed"] = "A whole number from 0, please."
		}
		request.Seed = seed
	}
	if lines := strings.TrimSpace(form.Get("suite")); lines != "" {
		request.Suite = &evaluation.Suite{Name: "pasted", Lines: strings.ReplaceAll(lines, "\r\n", "\n") + "\n"}
	}
	if len(request.Envs) == 0 && request.Suite == nil {
		wrong["envs"] = "Nothing is to be played. Want an environment, or questions of your own."
	}
	return request
}

// fieldOf is the field of the form that a refusal is about; the model, where it
// is about none.
func fieldOf(err error) string {
	where := whereOf(err)
	switch name, _, _ := strings.Cut(where, "/"); name {
	case "run", "envs", "levels", "n", "trials", "seed", "suite":
		return name
	case "env":
		return "envs"
	case "level":
		return "levels"
	case "pasted":
		return "suite"
	}
	return "model"
}
