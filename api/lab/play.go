package lab

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// mostForm is the bytes of a form that is sent.
const mostForm = 16 << 10

// play lets the model of a column play the task of the settings: once, or until
// the group is full. A form is sent back to the page; a script asks for the part
// of it that has changed by itself.
func (l *Lab) play(w http.ResponseWriter, r *http.Request) error {
	unhurried(w)
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		return refusal.New("form", "the one of the page", "the form cannot be read")
	}
	query := cloned(r.PostForm)
	what, script := query.Get("play"), query.Get("script") != ""
	query.Del("play")
	query.Del("script")
	set, _, err := l.settings(query)
	if err != nil {
		return err
	}
	if err := l.playAs(r, set, what); err != nil {
		return err
	}
	if script {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(w, r, "/?"+set.Query().Encode(), http.StatusSeeOther)
	return nil
}

// playAs plays for a column, before or after, anew, or for the group of the left
// one, which goes on.
func (l *Lab) playAs(r *http.Request, set Settings, what string) error {
	ctx := r.Context()
	spec, task, err := l.config.Specs.Task(set.taskID())
	if err != nil {
		return err
	}
	where, name, n := "before", set.Before, 1
	switch what {
	case "before":
	case "after":
		where, name = "after", set.After
	case "group":
		n = set.Group
	default:
		return refusal.New("play", "before, after or group", "there is no %.20q to play for", what)
	}
	model, ok := strings.CutPrefix(name, ollamaPrefix)
	if !ok {
		return refusal.New(where, "ollama:MODEL", "%.80q plays by itself", name)
	}
	l.models.forget()
	found, problem := l.models.find(ctx, model)
	if problem != "" {
		return &tools.Error{Code: tools.Unavailable, Where: where, Message: problem, Want: "a server that answers"}
	}
	key := l.keyOf(ctx, found, task)
	return l.perform(ctx, key, found, scene{spec, task}, n, what != "group")
}

// unhurried lifts the limits of time of a request: a model on a small machine
// takes longer than an answer from memory.
func unhurried(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // a ResponseWriter without deadlines has none to lift
	_ = control.SetWriteDeadline(time.Time{})
}

// taskID names the task of the settings.
func (s Settings) taskID() string { return fmt.Sprintf("%s/%s/%d", s.Env, s.Level, s.Seed) }
