package lab

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"toolgym/api/dialect/trl"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// scriptRoutes are the page that writes a training script, the part of it that
// follows the form, and the file.
func (l *Lab) scriptRoutes() []Route {
	return []Route{
		{http.MethodGet, "/lab/script", "score", l.script},
		{http.MethodGet, "/lab/script/part", "score", l.scriptPart},
		{http.MethodGet, "/lab/script/" + trl.ScriptName, "score", l.scriptFile},
	}
}

// A scriptView is the page's own part. Where the settings cannot be used there
// is no text, and Wrong says why.
type scriptView struct {
	Settings Settings
	Specs    tools.Specs
	Fields   []scriptField
	LoRA     bool
	Text     string
	Wrong    string
	Where    string
	File     string // where the file is
	Command  string // what writes it elsewhere
}

// A scriptField is a setting of the script alone, and the control that sets it.
type scriptField struct {
	Name, Label, Help string
	Number            bool
	Adapter           bool // of LoRA, without which it is not there
	Value             string
	into              func(*trl.Settings, string) error
}

// scriptFields lists them, with the values of the settings.
func scriptFields(s trl.Settings) []scriptField {
	lora := s.LoRA
	whole := func(name, label, help string, value int, at func(*trl.Settings) *int) scriptField {
		return scriptField{Name: name, Label: label, Help: help, Number: true, Value: strconv.Itoa(value), into: func(s *trl.Settings, text string) (err error) {
			*at(s), err = strconv.Atoi(text)
			return err
		}}
	}
	fraction := func(name, label, help string, value float64, at func(*trl.Settings) *float64) scriptField {
		return scriptField{Name: name, Label: label, Help: help, Number: true, Value: strconv.FormatFloat(value, 'g', -1, 64), into: func(s *trl.Settings, text string) (err error) {
			*at(s), err = strconv.ParseFloat(text, 64)
			return err
		}}
	}
	text := func(name, label, help, value string, at func(*trl.Settings) *string) scriptField {
		return scriptField{Name: name, Label: label, Help: help, Value: value, into: func(s *trl.Settings, text string) error {
			*at(s) = text
			return nil
		}}
	}
	fields := []scriptField{
		text("model", "Model", "name or path, as transformers knows it", s.Model, func(s *trl.Settings) *string { return &s.Model }),
		text("server", "Server", "as the trainer reaches it", s.Server, func(s *trl.Settings) *string { return &s.Server }),
		text("output_dir", "Output folder", "of checkpoints and the model", s.Output, func(s *trl.Settings) *string { return &s.Output }),
		whole("tasks", "Tasks", "by as many seeds", s.Tasks, func(s *trl.Settings) *int { return &s.Tasks }),
		whole("max_steps", "Updates", "max_steps", s.Steps, func(s *trl.Settings) *int { return &s.Steps }),
		fraction("learning_rate", "Learning rate", "above 0", s.LearningRate, func(s *trl.Settings) *float64 { return &s.LearningRate }),
		whole("max_completion_length", "Completion length", "in tokens", s.Longest, func(s *trl.Settings) *int { return &s.Longest }),
		fraction("temperature", "Temperature", "of sampling", s.Temperature, func(s *trl.Settings) *float64 { return &s.Temperature }),
	}
	if lora == nil {
		return fields
	}
	adapters := []scriptField{
		whole("lora_r", "Rank", "r of the adapters", lora.R, func(s *trl.Settings) *int { return &s.LoRA.R }),
		whole("lora_alpha", "Scale", "the update is multiplied by alpha/r", lora.Alpha, func(s *trl.Settings) *int { return &s.LoRA.Alpha }),
		fraction("lora_dropout", "Dropout", "below 1", lora.Dropout, func(s *trl.Settings) *float64 { return &s.LoRA.Dropout }),
		{Name: "lora_targets", Label: "Layers", Help: "names with blanks between; none for all linear ones", Value: strings.Join(lora.Targets, " "), into: func(s *trl.Settings, text string) error {
			s.LoRA.Targets = strings.Fields(text)
			return nil
		}},
	}
	for i := range adapters {
		adapters[i].Adapter = true
	}
	return append(fields, adapters...)
}

// scripted reads a query: what is the script's own is taken from it, the rest
// are the lab's settings. The script's values may make no sense; that is for
// [trl.Settings.Validate] to say.
func (l *Lab) scripted(r *http.Request) (Settings, trl.Settings, error) {
	query, order := r.URL.Query(), trl.Default()
	order.Server = here(r)
	if query.Get("lora") == "off" {
		order.LoRA = nil
	}
	query.Del("lora")
	for _, field := range scriptFields(order) {
		if value, ok := query[field.Name]; ok {
			if err := field.into(&order, strings.TrimSpace(value[0])); err != nil {
				return Settings{}, order, refusal.New(field.Name, field.Help, "%.40q is no number that fits", value[0])
			}
			query.Del(field.Name)
		}
	}
	dropAdapters(query)
	settings, err := ParseSettings(query, l.config.Specs, l.config.Rubric)
	if err != nil {
		return settings, order, err
	}
	order.Env, order.Level, order.Seed = settings.Env, settings.Level, settings.Seed
	order.Rubric, order.Beta, order.Epsilon, order.Generations = settings.Rubric(l.config.Rubric), settings.Beta, settings.Clip, settings.Group
	return settings, order, nil
}

// dropAdapters takes out what a form still sends of adapters that are off.
func dropAdapters(query url.Values) {
	for name := range query {
		if strings.HasPrefix(name, "lora_") {
			query.Del(name)
		}
	}
}

// here is this server's URL, as the browser reached it.
func here(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// scriptOf makes the page's part. Settings that make no sense are part of the
// page, so that they can be mended on it.
func (l *Lab) scriptOf(r *http.Request) (scriptView, error) {
	settings, order, err := l.scripted(r)
	view := scriptView{Settings: settings, Specs: l.config.Specs, Fields: scriptFields(order), LoRA: order.LoRA != nil,
		File: "/lab/script/" + trl.ScriptName + "?" + r.URL.RawQuery}
	var text []byte
	if err == nil {
		text, err = order.Script()
	}
	if e, ok := errors.AsType[*tools.Error](err); ok && view.Settings.Env != "" {
		view.Where, view.Wrong = strings.Trim(e.Where, "/"), e.Message+"; expected "+e.Want
		return view, nil
	}
	view.Text = string(text)
	view.Command = fmt.Sprintf("TOOLGYM_TOKEN=… python3 %s", trl.ScriptName)
	return view, err
}

func (l *Lab) script(w http.ResponseWriter, r *http.Request) error {
	view, err := l.scriptOf(r)
	if err != nil {
		return err
	}
	return l.show(w, r, "script", "Training script", view)
}

func (l *Lab) scriptPart(w http.ResponseWriter, r *http.Request) error {
	view, err := l.scriptOf(r)
	if err != nil {
		return err
	}
	return l.part(w, "script", "result", view)
}

func (l *Lab) scriptFile(w http.ResponseWriter, r *http.Request) error {
	_, order, err := l.scripted(r)
	if err != nil {
		return err
	}
	text, err := order.Script()
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "text/x-python; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="`+trl.ScriptName+`"`)
	_, _ = w.Write(text) // a client that has gone needs no file
	return nil
}
