package lab

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"toolgym/api/assessment"
	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/internal/evaluation"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Evaluations are those that a request's caller may see, as /v1/evals has them.
// What is not there, or somebody else's, is an [*tools.Error].
type Evaluations interface {
	List(ctx context.Context) ([]assessment.State, error)
	Find(ctx context.Context, name string) (assessment.State, error)
	Begin(ctx context.Context, request evaluation.Request) (assessment.State, error)
	Stop(ctx context.Context, name string) error
	Cancel(ctx context.Context, name string) error // deletes what does not run
	// Report is whole once the agents without a language model have played; a page
	// waits for them up to its patience.
	Report(ctx context.Context, name string, patience time.Duration) (found report.Report, whole bool, err error)
	Compare(ctx context.Context, first, second string) (eval.Comparison, error)
}

// mostListed is how many evaluations a page lists, the newest first.
const mostListed = 50

func (l *Lab) evaluationRoutes() []Route {
	return []Route{
		{http.MethodGet, "/lab/evaluations", "train", l.evaluations},
		{http.MethodPost, "/lab/evaluations", "train", l.beginEvaluation},
		{http.MethodGet, "/lab/comparison", "train", l.comparison},
		{http.MethodGet, "/lab/evaluations/{name}", "train", l.evaluation},
		{http.MethodPost, "/lab/evaluations/{name}", "train", l.actOnEvaluation},
	}
}

// A shelf is the page that lists evaluations.
type shelf struct {
	Kept       bool // there is a database
	Rows       []shelfRow
	More       int
	Busy       bool
	A, B       string
	Comparison *comparing
	Form       ask
}

// A pick is one of the two selects.
type pick struct {
	Field, Value string
	Rows         []shelfRow
}

// Choice is the select of a field.
func (s shelf) Choice(field, value string) pick { return pick{field, value, s.Rows} }

// A shelfRow is an evaluation in the list.
type shelfRow struct {
	assessment.State
	Bar interval
}

// Path is the address of an evaluation's page.
func (r shelfRow) Path() string { return evaluationPath(r.Name) }

// Tone colours the state.
func (r shelfRow) Tone() string {
	switch r.State.State {
	case assessment.Running:
		return "warn"
	case assessment.Done:
		return "good"
	case assessment.Failed:
		return "bad"
	}
	return ""
}

// Each is how many tasks are played how often.
func (r shelfRow) Each() string {
	trials := max(1, r.Trials*len(r.Routes))
	return fmt.Sprintf("%d × %d", r.Planned/trials, trials)
}

// Often says the same in words.
func (r shelfRow) Often() string {
	trials := max(1, r.Trials*len(r.Routes))
	return fmt.Sprintf("%s, %s of each", several(r.Planned/trials, "task"), several(trials, "trial"))
}

func several(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// When is when it began.
func (r shelfRow) When() string { return r.Created.Format("2006-01-02 15:04") }

func evaluationPath(name string) string { return "/lab/evaluations/" + url.PathEscape(name) }

// A comparing is two evaluations side by side.
type comparing struct {
	eval.Comparison
	Bars  [2]interval
	Shift interval // of the difference, from −1 to 1
	Fault string
}

// evaluations lists them; with part set, only the list, for a page that looks
// again.
func (l *Lab) evaluations(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	page := shelf{Kept: l.config.Evals != nil, A: query.Get("a"), B: query.Get("b")}
	if !page.Kept {
		return l.show(w, r, "evaluations", "Evaluations", page)
	}
	if err := l.fillShelf(r.Context(), &page); err != nil {
		return err
	}
	if query.Get("part") == "runs" {
		return l.part(w, "evaluations", "runs", page)
	}
	page.Form = l.ask(r.Context())
	return l.show(w, r, "evaluations", "Evaluations", page)
}

// comparison is the part of the page that compares two.
func (l *Lab) comparison(w http.ResponseWriter, r *http.Request) (err error) {
	page := shelf{A: r.URL.Query().Get("a"), B: r.URL.Query().Get("b")}
	if l.config.Evals != nil && page.A != "" && page.B != "" {
		page.Comparison, err = l.compare(r.Context(), page.A, page.B)
	}
	if err != nil {
		return err
	}
	return l.part(w, "evaluations", "comparison", page)
}

func (l *Lab) fillShelf(ctx context.Context, page *shelf) error {
	ctx, cancel := context.WithTimeout(ctx, l.config.CallTimeout)
	defer cancel()
	list, err := l.config.Evals.List(ctx)
	if err != nil {
		return err
	}
	if len(list) > mostListed {
		list, page.More = list[:mostListed], len(list)-mostListed
	}
	for _, state := range list {
		summary, err := l.summaries.of(ctx, l.config.Evals, state)
		if err != nil {
			return err
		}
		state.Summary = summary
		page.Rows = append(page.Rows, shelfRow{state, barOf(summary)})
		page.Busy = page.Busy || state.State == assessment.Running
	}
	if page.A != "" && page.B != "" {
		page.Comparison, err = l.compare(ctx, page.A, page.B)
	}
	return err
}

// compare says whether two evaluations differ; where they cannot be compared,
// why.
func (l *Lab) compare(ctx context.Context, a, b string) (*comparing, error) {
	if a == b {
		return &comparing{Fault: "These are the same. Choose two evaluations."}, nil
	}
	found, err := l.config.Evals.Compare(ctx, a, b)
	if err != nil {
		wrong := faults{}
		err = wrong.note("comparison", withoutPlace(err))
		return &comparing{Fault: wrong["comparison"]}, err
	}
	c := &comparing{Comparison: found, Shift: interval{At: (found.Difference + 1) / 2, From: (found.Interval[0] + 1) / 2, To: (found.Interval[1] + 1) / 2, Zero: true, Known: true}}
	for i, rate := range found.Rates {
		c.Bars[i] = interval{At: rate, From: rate, To: rate, Known: true}
	}
	return c, nil
}

// summaries remembers what kept trials amount to, for as long as no more are
// kept. It is safe for concurrent use.
type summaries struct {
	mu    sync.Mutex
	known map[summaryKey]*eval.Summary
}

type summaryKey struct {
	name    string
	created time.Time
	kept    int
}

// mostSummaries bounds what is remembered.
const mostSummaries = 500

func (s *summaries) of(ctx context.Context, evals Evaluations, state assessment.State) (*eval.Summary, error) {
	key := summaryKey{state.Name, state.Created, state.Kept}
	s.mu.Lock()
	found := s.known[key]
	s.mu.Unlock()
	if found != nil {
		return found, nil
	}
	whole, err := evals.Find(ctx, state.Name)
	if refusal.Is(err, tools.NotFound) {
		return nil, nil // it was deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= mostSummaries || s.known == nil {
		s.known = map[summaryKey]*eval.Summary{}
	}
	s.known[key] = whole.Summary
	return whole.Summary, nil
}
