package lab

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolgym/api/assessment"
	"toolgym/grpo/eval/report"
	"toolgym/internal/evaluation"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A standing is the page of one evaluation.
type standing struct {
	shelfRow
	Figures []figureOf
	Report  *report.Report // nil while it runs
	Levels  []levelRow
	Agents  []levelRow
	Files   []file
	Pending bool // the agents play
}

// A figureOf is a number with what belongs to it.
type figureOf struct {
	Name, Value, Note string
	Bar               interval
}

// A levelRow is a share of the trials, or an agent beside.
type levelRow struct {
	report.Part
	Bar  interval
	Note string
}

// A file is a report to be had.
type file struct{ Name, Path, Help string }

// categories are ways to fail, under a title.
type categories struct {
	Title, None string
	List        []report.Category
}

// Failing is how the model fails.
func (s standing) Failing() categories {
	return categories{"How it fails", "Every trial that was scored passed.", s.Report.Failures}
}

// Excluded is what could not be held against it.
func (s standing) Excluded() categories {
	return categories{"What could not be graded", "Every trial could be graded.", s.Report.Excluded}
}

// atOnce is how long a page waits for the agents beside the model. Those of few
// trials have played by then; of others they come later.
const atOnce = 2 * time.Second

// evaluation shows one; with part set, only how it stands, or the agents beside.
func (l *Lab) evaluation(w http.ResponseWriter, r *http.Request) error {
	name, part, patience := r.PathValue("name"), r.URL.Query().Get("part"), atOnce
	if part == "agents" {
		patience = l.config.CallTimeout / 2
	}
	page, err := l.standing(r.Context(), name, patience)
	if err != nil {
		return err
	}
	if part == "standing" || part == "agents" {
		return l.part(w, "evaluation", part, page)
	}
	return l.write(w, http.StatusOK, "evaluation", "frame.html", view{Title: name, Path: "/lab/evaluations", Guarded: l.config.Guarded, Page: page})
}

func (l *Lab) standing(ctx context.Context, name string, patience time.Duration) (*standing, error) {
	if l.config.Evals == nil {
		return nil, assessment.Missing(name)
	}
	ctx, cancel := context.WithTimeout(ctx, l.config.CallTimeout)
	defer cancel()
	state, err := l.listed(ctx, name)
	if err != nil {
		return nil, err
	}
	if state.State == assessment.Running || state.Kept == 0 {
		if state, err = l.config.Evals.Find(ctx, name); err != nil {
			return nil, err
		}
		return &standing{shelfRow: shelfRow{state, barOf(state.Summary)}, Figures: figuresOf(state), Files: filesOf(name)}, nil
	}
	found, whole, err := l.config.Evals.Report(ctx, name, patience)
	if err != nil {
		return nil, err
	}
	state.Summary = &found.Summary
	page := &standing{shelfRow: shelfRow{state, barOf(state.Summary)}, Figures: figuresOf(state), Files: filesOf(name), Report: &found, Pending: !whole}
	page.fill(found)
	return page, nil
}

// listed finds an evaluation without its summary, which takes all its trials.
func (l *Lab) listed(ctx context.Context, name string) (assessment.State, error) {
	list, err := l.config.Evals.List(ctx)
	if err != nil {
		return assessment.State{}, err
	}
	i := slices.IndexFunc(list, func(state assessment.State) bool { return state.Name == name })
	if i < 0 {
		return assessment.State{}, assessment.Missing(name)
	}
	return list[i], nil
}

// fill lists the shares of a report, and the agents beside.
func (s *standing) fill(found report.Report) {
	for _, part := range found.Levels {
		s.Levels = append(s.Levels, levelRow{Part: part, Bar: barOf(&part.Summary)})
	}
	for _, b := range found.Baselines {
		row := levelRow{Part: report.Part{Name: b.Name, Summary: b.Summary}, Bar: barOf(&b.Summary)}
		if b.Comparison != nil {
			row.Note = b.Comparison.Sentence
		}
		if left := b.Note(); left != "" {
			row.Note = strings.TrimSpace(row.Note + " " + left)
		}
		s.Agents = append(s.Agents, row)
	}
}

// figuresOf are the headline, and what it is worth.
func figuresOf(state assessment.State) []figureOf {
	s := state.Summary
	success := figureOf{Name: "Success", Value: rate(s), Note: "no trial is scored yet", Bar: barOf(s)}
	if s.Trials > 0 {
		success.Note = s.Withheld
		if s.Interval != nil {
			success.Note = between(*s.Interval) + ", 95 % interval"
		}
	}
	list := []figureOf{success}
	if s.Trials == 0 {
		return list
	}
	list = append(list,
		figureOf{Name: "Worst case", Value: fmt.Sprintf("%.1f %%", 100*s.WorstCase), Note: "if all that was not scored had failed",
			Bar: interval{At: s.WorstCase, From: s.WorstCaseInterval[0], To: s.WorstCaseInterval[1], Known: true}},
		figureOf{Name: "Coverage", Value: fmt.Sprintf("%.1f %%", 100*s.Coverage), Note: fmt.Sprintf("%d of %d trials are scored", s.Scored, s.Trials)})
	if s.Reward != nil {
		list = append(list, figureOf{Name: "Mean reward", Value: signed(*s.Reward), Note: fmt.Sprintf("%.1f calls in %.1f turns", s.Calls, s.Turns)})
	}
	return list
}

func filesOf(name string) (list []file) {
	base := "/v1/evals/" + url.PathEscape(name)
	for _, f := range [][3]string{{"html", "HTML", "the whole report, one file"}, {"md", "Markdown", "for a repository"}, {"json", "JSON", "all figures"},
		{"csv", "CSV", "a line a trial"}, {"junit", "JUnit", "for a build server"}, {"text", "Text", "for a terminal"}} {
		list = append(list, file{f[1], base + "/report?format=" + f[0], f[2]})
	}
	return append(list, file{"NDJSON", base + "/export.ndjson", "everything that was said"})
}

// actOnEvaluation cancels what runs, goes on with what was stopped, or deletes.
func (l *Lab) actOnEvaluation(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if l.config.Evals == nil {
		return assessment.Missing(name)
	}
	form, err := l.sent(w, r)
	if err != nil {
		return err
	}
	state, err := l.config.Evals.Find(r.Context(), name)
	if err != nil {
		return err
	}
	running, next := state.State == assessment.Running, evaluationPath(name)
	switch form.Get("do") {
	case "cancel":
		err = l.config.Evals.Stop(r.Context(), name)
	case "delete":
		if running {
			return &tools.Error{Code: tools.Conflict, Message: "the evaluation is running", Want: "to cancel it first"}
		}
		err, next = l.config.Evals.Cancel(r.Context(), name), "/lab/evaluations"
	case "resume":
		_, err = l.config.Evals.Begin(r.Context(), evaluation.Request{Run: name, Resume: true})
	default:
		return refusal.New("do", "cancel, delete or resume", "there is no such thing to do")
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}
