package lab

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"

	"toolgym/internal/refusal"
)

// trainingRoutes are the page on which trainings are started and watched. What
// its buttons do are resources of the REST API, /v1/policy/runs.
func (l *Lab) trainingRoutes() []Route {
	const role = "train"
	return []Route{
		{http.MethodGet, "/lab/training", role, l.training},
		{http.MethodGet, "/lab/training/view", role, l.trainingPart("view")},
		{http.MethodGet, "/lab/training/runs", role, l.trainingPart("runs")},
		{http.MethodGet, "/lab/training/events", role, l.watchTraining},
		{http.MethodGet, "/lab/training/curves/{format}", role, l.downloadCurves},
	}
}

// A trainingView is what the page shows of trainings.
type trainingView struct {
	trainingFrame
	Query template.URL // of the selection
	Bound float64
	First *row // whose figures they are; nil without runs
	Rows  []row
	More  int // older runs, which are not listed
	Form  startForm
}

// mostRuns are listed, the newest first; of the older ones those that are shown
// or go on.
const mostRuns = 30

// A trainingFrame is all that changes while trainings go on: what the page is
// drawn with, and what its stream sends.
type trainingFrame struct {
	List    string    `json:"list"` // another one asks for the list of runs anew
	Rows    []row     `json:"rows"`
	Figures []figure  `json:"figures"`
	Runs    []spanned `json:"runs"`
	Charts  []curves  `json:"charts"`
	Table   string    `json:"table"` // the rows of the table of last values
}

// frame draws a selection.
func (l *Lab) frame(s *selection) (trainingFrame, error) {
	var f trainingFrame
	var err error
	_, f.List = s.version()
	f.Figures = s.figures()
	for _, run := range s.runs {
		if run.shown || run.live() {
			f.Rows = append(f.Rows, run.row())
		}
	}
	if f.Runs, f.Charts, err = s.draw(); err != nil {
		return f, err
	}
	var table bytes.Buffer
	if err := l.pages["training"].ExecuteTemplate(&table, "lasts", f); err != nil {
		return f, errorf("training", err)
	}
	f.Table = table.String()
	return f, nil
}

// trainingView is what the page shows of the selection that a request asks for.
func (l *Lab) trainingView(r *http.Request) (trainingView, error) {
	s, err := l.selected(r)
	if err != nil {
		return trainingView{}, err
	}
	frame, err := l.frame(&s)
	view := trainingView{trainingFrame: frame, Query: template.URL(s.Query().Encode()), Bound: s.bound, Form: l.startForm()}
	for i, run := range s.runs {
		if i < mostRuns || run.shown || run.live() {
			view.Rows = append(view.Rows, run.row())
		}
	}
	view.More = len(s.runs) - len(view.Rows)
	if first := s.first(); first != nil {
		line := first.row()
		view.First = &line
	}
	return view, err
}

// Lasts are the rows of the table, which have been written already.
func (v trainingView) Lasts() template.HTML { return template.HTML(v.Table) }

// training is the page.
func (l *Lab) training(w http.ResponseWriter, r *http.Request) error {
	view, err := l.trainingView(r)
	if err != nil {
		return err
	}
	return l.show(w, r, "training", "Training", view)
}

// trainingPart is a part of the page.
func (l *Lab) trainingPart(name string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		view, err := l.trainingView(r)
		if err != nil {
			return err
		}
		return l.part(w, "training", name, view)
	}
}

// trainingFiles are the kinds of files in which curves can be taken away.
func trainingFiles() map[string]string {
	return map[string]string{"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv; charset=utf-8"}
}

// fileName names the runs that a file is about.
func (s *selection) fileName() string {
	parts := []string{"training"}
	for _, run := range s.laid() {
		parts = append(parts, run.Short())
	}
	return strings.Join(parts, "-")
}

// downloadCurves sends what the page shows as a file.
func (l *Lab) downloadCurves(w http.ResponseWriter, r *http.Request) error {
	format := r.PathValue("format")
	kind, ok := trainingFiles()[format]
	if !ok {
		return refusal.New("format", "svg, png or csv", "unknown format %.40q", format)
	}
	s, err := l.selected(r)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	if err := s.write(&file, format); err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", `attachment; filename="`+s.fileName()+"."+format+`"`)
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	header.Set("Cache-Control", "no-store")
	_, _ = w.Write(file.Bytes()) // a client that has gone needs no file
	return nil
}
