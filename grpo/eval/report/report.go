package report

import (
	"math/rand/v2"
	"slices"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/eval/stats"
)

// A Report is what a run found.
type Report struct {
	Run       eval.Run     `json:"run"` // without its tasks' documents
	Summary   eval.Summary `json:"summary"`
	Missing   int          `json:"missing"` // planned trials that were not played yet
	Levels    []Part       `json:"levels"`
	Routes    []Part       `json:"routes"`
	Switch    *Switch      `json:"chat_against_raw"` // null unless both routes were played
	Baselines []Reference  `json:"baselines"`
	Failures  []Category   `json:"failures"`
	Excluded  []Category   `json:"excluded"`
	Servers   []Server     `json:"servers"`

	NotComputed []Gap `json:"not_computed"` // the last field: encoding the others may add to it

	records []eval.Record
}

// A Part is a share of the trials by itself: a level of an environment, or a
// route.
type Part struct {
	Name    string       `json:"name"`
	Summary eval.Summary `json:"summary"`
}

// A Reference is an agent that played the same tasks, or some of them. The
// comparison is over those that both sides have scored; its p is adjusted for
// the number of references (Holm).
type Reference struct {
	Name       string           `json:"name"`
	Summary    eval.Summary     `json:"summary"`
	Comparison *eval.Comparison `json:"comparison"` // null where no task was scored on both sides
	LeftOut    []string         `json:"left_out"`   // environments' levels with tasks that it did not play
	Reason     string           `json:"reason"`     // why it did not; empty where it played all
}

// An Agent is what the report compares a model with: the trials of an agent,
// and what it left out, as a [Reference] has it.
type Agent struct {
	Name    string
	Trials  []eval.Trial
	LeftOut []string
	Reason  string
}

// A Server is where trials were played, and what it said about itself.
type Server struct {
	Address  string `json:"address"`
	Version  string `json:"version"`
	Template string `json:"template"` // hash
	Trials   int    `json:"trials"`
}

// A Switch says what the chat route makes of trials that the raw route played
// as well: the server's own parsing lies between them.
type Switch struct {
	Both     int      `json:"both"`      // passed on both routes
	ChatOnly int      `json:"chat_only"` // passed on the chat route alone
	RawOnly  int      `json:"raw_only"`  // passed on the raw route alone
	Neither  int      `json:"neither"`
	Lost     []string `json:"lost"` // tasks whose raw text held a call and whose chat message was lost or malformed
}

// New derives the report. Agents are in the order of display; the source feeds
// the bootstraps. A part that cannot be computed is a [Gap].
func New(run eval.Run, records []eval.Record, agents []Agent, source rand.Source) (Report, error) {
	trials := make([]eval.Trial, len(records))
	for i, r := range records {
		trials[i] = r.Trial
	}
	report := Report{Run: run, Summary: eval.Summarize(nil, rand.NewPCG(0, 0)), Levels: []Part{}, Routes: []Part{}, Baselines: []Reference{},
		Failures: []Category{}, Excluded: []Category{}, Servers: []Server{}, NotComputed: []Gap{}, records: records}
	report.Run.Tasks = slices.Clone(run.Tasks)
	for i := range report.Run.Tasks {
		report.Run.Tasks[i].Document = nil
	}
	report.Missing = max(0, len(run.Tasks)*run.Trials*len(run.Routes)-len(trials))
	leading := route(trials, run)
	report.compute("summary", func() { report.Summary = eval.Summarize(leading, source) })
	report.Summary.Run, report.Summary.Model = run.Name, run.Model
	report.compute("levels", func() {
		report.Levels = parts(leading, func(t eval.Trial) string { return t.Env + "/" + t.Level }, source)
	})
	if len(run.Routes) > 1 {
		report.compute("routes", func() {
			report.Routes = parts(trials, func(t eval.Trial) string { return t.Route }, source)
			report.Switch = compareRoutes(trials)
		})
	}
	report.compute("failures", func() {
		report.Failures, _ = taxonomy(slices.DeleteFunc(slices.Clone(records), func(r eval.Record) bool { return r.Route != run.Routes[0] }))
	})
	report.compute("excluded", func() { _, report.Excluded = taxonomy(records) })
	report.Servers = servers(records)
	report.compute("baselines", func() { report.compare(leading, agents, source) })
	return report, nil
}

// route picks the trials of the run's first route, which the headline is about.
func route(trials []eval.Trial, run eval.Run) []eval.Trial {
	if len(run.Routes) < 2 {
		return trials
	}
	return slices.DeleteFunc(slices.Clone(trials), func(t eval.Trial) bool { return t.Route != run.Routes[0] })
}

// parts summarises the trials by a name, in the order of first appearance.
func parts(trials []eval.Trial, name func(eval.Trial) string, source rand.Source) []Part {
	var names []string
	by := map[string][]eval.Trial{}
	for _, t := range trials {
		n := name(t)
		if by[n] == nil {
			names = append(names, n)
		}
		by[n] = append(by[n], t)
	}
	list := make([]Part, len(names))
	for i, n := range names {
		list[i] = Part{Name: n, Summary: eval.Summarize(by[n], source)}
	}
	return list
}

// compare sets the model beside agents that played the same tasks.
func (r *Report) compare(trials []eval.Trial, agents []Agent, source rand.Source) {
	var raw []float64
	for _, a := range agents {
		reference := Reference{Name: a.Name, Summary: eval.Summarize(a.Trials, source), LeftOut: append([]string{}, a.LeftOut...), Reason: a.Reason}
		if c, err := eval.Compare(a.Trials, trials, source); err == nil {
			reference.Comparison = &c
			raw = append(raw, c.P)
		}
		r.Baselines = append(r.Baselines, reference)
	}
	adjusted := stats.Holm(raw)
	for i := range r.Baselines {
		if c := r.Baselines[i].Comparison; c != nil {
			c.Adjust(adjusted[0])
			adjusted = adjusted[1:]
		}
	}
}

// servers lists where trials were played.
func servers(records []eval.Record) []Server {
	list := []Server{}
	for _, r := range records {
		at := slices.IndexFunc(list, func(s Server) bool {
			return s.Address == r.Server && s.Version == r.Version && s.Template == r.Template
		})
		if at < 0 {
			at = len(list)
			list = append(list, Server{Address: r.Server, Version: r.Version, Template: r.Template})
		}
		list[at].Trials++
	}
	return list
}

// compareRoutes pairs the routes trial by trial.
func compareRoutes(trials []eval.Trial) *Switch {
	type key struct {
		task  string
		trial int
	}
	chat := map[key]eval.Trial{}
	for _, t := range trials {
		if t.Route == "chat" {
			chat[key{t.Task, t.Trial}] = t
		}
	}
	s := &Switch{Lost: []string{}}
	for _, raw := range trials {
		c, ok := chat[key{raw.Task, raw.Trial}]
		if raw.Route != "raw" || !ok {
			continue
		}
		s.count(c, raw)
	}
	return s
}

func (s *Switch) count(chat, raw eval.Trial) {
	switch {
	case chat.Success && raw.Success:
		s.Both++
	case chat.Success:
		s.ChatOnly++
	case raw.Success:
		s.RawOnly++
	default:
		s.Neither++
	}
	lost := chat.Failure != nil && chat.Failure.Kind == grpo.FailureServing || chat.Failure == nil && !chat.Tier.FormatOK()
	if lost && raw.Failure == nil && raw.Tier.FormatOK() && len(raw.Calls) > 0 && !slices.Contains(s.Lost, raw.Task) {
		s.Lost = append(s.Lost, raw.Task)
	}
}
