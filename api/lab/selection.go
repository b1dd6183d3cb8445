package lab

import (
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"toolgym/api/training"
	"toolgym/internal/chart"
	"toolgym/internal/refusal"
	"toolgym/policy/telemetry"
	"toolgym/tools"
)

// mostShown is how many runs may lie over one another: as many as there are
// looks for their lines.
const mostShown = 6

// A selection is the caller's runs, and which of them the page shows. It is a
// snapshot; [Lab.fresh] takes another.
type selection struct {
	ids   []string // that the query asks for
	bound float64  // divergence above which the page warns
	runs  []laidRun
}

// A laidRun is a run with its telemetry so far.
type laidRun struct {
	training.State
	Busy    bool // it trains, or waits in memory: it can be stopped, and not be deleted
	shown   bool
	look    int
	records []telemetry.Record
}

// selected reads the query of the page: run, any number of times, and bound.
// Without a run it is the newest. A run of somebody else's is not found.
func (l *Lab) selected(r *http.Request) (selection, error) {
	query := r.URL.Query()
	s := selection{bound: presets(l.config.Specs, l.config.Rubric).Bound}
	for name, values := range query {
		switch name {
		case "run":
			s.ids = slices.Clone(values)
		case "bound":
			var err error
			if s.bound, err = strconv.ParseFloat(values[0], 64); err != nil || math.IsNaN(s.bound) || s.bound < 0 || s.bound > 2 {
				return s, refusal.New("bound", "a number from 0 to 2", "%.40q is out of range", values[0])
			}
		default:
			return s, refusal.New(name, "run or bound", "there is no setting %.40q", name)
		}
	}
	if len(s.ids) > mostShown {
		return s, refusal.New("run", fmt.Sprintf("at most %d", mostShown), "%d runs over one another", len(s.ids))
	}
	s = l.fresh(r, s)
	for _, id := range s.ids {
		if !slices.ContainsFunc(s.runs, func(run laidRun) bool { return run.ID == id }) {
			return s, &tools.Error{Code: tools.NotFound, Where: "run", Message: fmt.Sprintf("there is no policy run %.80q", id)}
		}
	}
	return s, nil
}

// fresh takes a snapshot of the caller's runs, the newest first. The runs that
// are shown keep their places even where one has gone.
func (l *Lab) fresh(r *http.Request, s selection) selection {
	s.runs = nil
	for _, state := range l.config.Runs.List() {
		if !l.config.Owns(r.Context(), state.Owner) {
			continue
		}
		run, err := l.config.Runs.Find(state.ID)
		if err != nil {
			continue // deleted in between
		}
		records := run.Records()
		state.Updates = len(records)
		_, more := run.Events().After(len(records)) // of a run without a process there is no more
		s.runs = append(s.runs, laidRun{State: state, Busy: more != nil, records: records})
	}
	if len(s.ids) == 0 && len(s.runs) > 0 {
		s.ids = []string{s.runs[0].ID}
	}
	s.dress()
	return s
}

// dress gives the runs their looks: by age, so that a line keeps its colour
// while others come and go; where that is taken, the next one that is free.
func (s *selection) dress() {
	var taken [mostShown]bool
	for i := range s.runs {
		s.runs[i].shown = slices.Contains(s.ids, s.runs[i].ID)
		s.runs[i].look = (len(s.runs) - 1 - i) % mostShown
	}
	for i := len(s.runs) - 1; i >= 0; i-- {
		run := &s.runs[i]
		if !run.shown {
			continue
		}
		for taken[run.look] {
			run.look = (run.look + 1) % mostShown
		}
		taken[run.look] = true
	}
}

// laid lists the runs that are shown, the oldest first.
func (s *selection) laid() (list []laidRun) {
	for _, run := range slices.Backward(s.runs) {
		if run.shown {
			list = append(list, run)
		}
	}
	return list
}

// first is the run whose numbers stand above the curves: the one that the query
// names first; nil without runs.
func (s *selection) first() *laidRun {
	for i := range s.runs {
		if len(s.ids) > 0 && s.runs[i].ID == s.ids[0] {
			return &s.runs[i]
		}
	}
	return nil
}

// live reports whether anything that the page tells of may still change.
func (s *selection) live() bool {
	return slices.ContainsFunc(s.runs, laidRun.live)
}

// Query is the selection as a query of the page.
func (s *selection) Query() url.Values {
	query := url.Values{"run": s.ids, "bound": {strconv.FormatFloat(s.bound, 'g', -1, 64)}}
	if len(s.ids) == 0 {
		query.Del("run")
	}
	return query
}

// version names what the page shows, list what its list of runs does: two
// snapshots of one version look the same.
func (s *selection) version() (whole, list string) {
	all, names := fnv.New64a(), fnv.New64a()
	for _, run := range s.runs {
		fmt.Fprintf(names, "%s %s %t\n", run.ID, run.State.State, run.Busy)
		fmt.Fprintf(all, "%s %s %t %d\n", run.ID, run.State.State, run.Busy, run.Updates)
	}
	return fmt.Sprintf("%x", all.Sum64()), fmt.Sprintf("%x", names.Sum64())
}

func (r laidRun) live() bool {
	return r.State.State == training.Running || r.State.State == training.Paused
}

// last is the newest record; nil before the first update.
func (r laidRun) last() *telemetry.Record {
	if len(r.records) == 0 {
		return nil
	}
	return &r.records[len(r.records)-1]
}

// Short names a run where there is little room.
func (r laidRun) Short() string { return r.ID[:min(4, len(r.ID))] }

// Look is how its lines are drawn.
func (r laidRun) Look() chart.Look { return chart.Looks()[r.look] }
