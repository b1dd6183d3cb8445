package report

import (
	"fmt"
	"slices"
	"strings"

	"toolgym/grpo/eval"
)

// A section is one part of the report, before it is rendered.
type section struct {
	title  string
	lines  []string // paragraphs
	tables []table
	figure func() (figure, error) // nil: none
	code   string                 // a command; empty: none
}

// A table has a heading and rows of as many cells.
type table struct {
	heading []string
	rows    [][]string
}

// A figure is a drawing and what it shows in words.
type figure struct {
	svg     string
	caption string
}

// sections is the content of the report, in order. A section that cannot be
// made says so in its place.
func (r Report) sections() []section {
	var list []section
	for _, part := range []struct {
		title string
		make  func() section
	}{
		{"Result", r.headline}, {"What could not be computed", r.gaps}, {"Criteria", r.criteria}, {"By environment and level", r.levels},
		{"Several trials of a task", r.curves}, {"Against agents without a language model", r.references}, {"How the model fails", r.failures},
		{"What could not be graded", r.excluded}, {"Chat route against raw route", r.routes}, {"Tasks", r.tasks}, {"Tokens and speed", r.speed},
		{"How it was run", r.setup},
	} {
		s := guarded(part.title, part.make)
		if len(s.lines)+len(s.tables) > 0 || s.figure != nil {
			list = append(list, s)
		}
	}
	return list
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

func between(i [2]float64) string { return fmt.Sprintf("%.1f–%.1f %%", 100*i[0], 100*i[1]) }

// success is the rate of a summary with its interval, or why there is none.
func success(s eval.Summary) string {
	if s.Success == nil {
		return "not given: " + s.Withheld
	}
	return fmt.Sprintf("%s (95 %% interval %s)", percent(*s.Success), between(*s.Interval))
}

func (r Report) headline() section {
	s := r.Summary
	lines := []string{
		fmt.Sprintf("%s passes %s.", r.Run.Model, success(s)),
		fmt.Sprintf("%d tasks, %d trials: %d passed, %d failed by the model; not graded: %d lost by the server, %d by the infrastructure, %d by the harness. Coverage %s. Of the scored trials %d were cut off by the token limit.",
			s.Tasks, s.Trials, s.Passed, s.ModelFailed, s.ServingLost, s.InfrastructureExcluded, s.HarnessExcluded, percent(s.Coverage), s.Truncated),
		fmt.Sprintf("Worst case, everything excluded counted as failed: %s (%s).", percent(s.WorstCase), between(s.WorstCaseInterval)),
	}
	if s.Success == nil {
		lines[0] = fmt.Sprintf("The success rate of %s is %s.", r.Run.Model, success(s))
	}
	if r.Missing > 0 {
		if s.Success != nil {
			lines[0] = "So far, " + lines[0]
		}
		lines = slices.Insert(lines, 1, fmt.Sprintf("The run is not finished: %d planned trials are missing. Tasks are played in their order, so that these figures are those of the first.", r.Missing))
	}
	return section{title: "Result", lines: lines}
}

func (r Report) criteria() section {
	t := table{heading: []string{"criterion", "mean"}}
	for _, name := range criteriaOf(r.records) {
		if mean, ok := r.Summary.Criteria[name]; ok {
			t.rows = append(t.rows, []string{name, fmt.Sprintf("%.3f", mean)})
		}
	}
	if len(t.rows) == 0 {
		return section{}
	}
	if r.Summary.Reward != nil {
		t.rows = append(t.rows, []string{"reward", fmt.Sprintf("%.3f", *r.Summary.Reward)})
	}
	return section{title: "Criteria", lines: []string{"Means over the scored trials. Criteria without weight are reported and not paid."}, tables: []table{t}}
}

// criteriaOf lists the criteria in the order in which the grader reports them.
func criteriaOf(records []eval.Record) []string {
	var names []string
	for _, r := range records {
		if r.Criteria.Len() > len(names) {
			names = names[:0]
			for c := range r.Criteria.All() {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

func (r Report) levels() section {
	if len(r.Levels) == 0 {
		return section{}
	}
	return section{title: "By environment and level", tables: []table{partTable("level", r.Levels)}, figure: r.forest}
}

func partTable(name string, list []Part) table {
	t := table{heading: []string{name, "tasks", "trials", "scored", "success", "95 % interval", "worst case"}}
	for _, p := range list {
		s, rate, interval := p.Summary, "–", "–"
		if s.Success != nil {
			rate, interval = percent(*s.Success), between(*s.Interval)
		}
		t.rows = append(t.rows, []string{p.Name, fmt.Sprint(s.Tasks), fmt.Sprint(s.Trials), fmt.Sprint(s.Scored), rate, interval, percent(s.WorstCase)})
	}
	return t
}

func (r Report) curves() section {
	s := r.Summary
	if len(s.PassAt) < 2 {
		return section{}
	}
	t := table{heading: []string{"k", "pass@k (at least one of k)", "pass^k (all of k)"}}
	for k := range s.PassAt {
		t.rows = append(t.rows, []string{fmt.Sprint(k + 1), percent(s.PassAt[k]), percent(s.PassAll[k])})
	}
	return section{title: "Several trials of a task", tables: []table{t}, figure: r.passCurves}
}

func (r Report) references() section {
	if len(r.Baselines) == 0 {
		return section{}
	}
	lines := []string{"They played the same tasks and were graded in the same way."}
	t := table{heading: []string{"who", "success", "difference of the model", "p (Holm)", "real?"}}
	for _, b := range r.Baselines {
		if len(b.LeftOut) > 0 {
			lines = append(lines, fmt.Sprintf("The %s played %d of %d tasks. It left out %s: %s.", b.Name, b.Summary.Tasks, len(r.Run.Tasks), some(b.LeftOut), b.Reason))
		}
		row := []string{b.Name, "–", "–", "–", "–"}
		if b.Summary.Success != nil {
			row[1] = percent(*b.Summary.Success)
		}
		if c := b.Comparison; c != nil {
			row[2], row[3], row[4] = fmt.Sprintf("%+.1f points", 100*c.Difference), fmt.Sprintf("%.4f", c.P), yes(c.Significant)
		}
		t.rows = append(t.rows, row)
	}
	return section{title: "Against agents without a language model", lines: lines, tables: []table{t}}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "may be chance"
}

func (r Report) tasks() section {
	s := r.Summary
	t := table{heading: []string{"tasks", "number", "which"}}
	for _, row := range []struct {
		name string
		list []string
	}{{"never passed", s.Never}, {"sometimes passed (flaky)", s.Flaky}, {"always passed", s.Always}} {
		t.rows = append(t.rows, []string{row.name, fmt.Sprint(len(row.list)), some(row.list)})
	}
	return section{title: "Tasks", tables: []table{t}}
}

// some lists the first names and says how many more there are.
func some(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
