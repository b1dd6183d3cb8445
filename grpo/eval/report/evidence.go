package report

import (
	"fmt"
	"strings"
)

func (r Report) failures() section {
	return categories("How the model fails", "way", r.Failures)
}

func (r Report) excluded() section {
	return categories("What could not be graded", "cause", r.Excluded)
}

func categories(title, name string, list []Category) section {
	if len(list) == 0 {
		return section{}
	}
	t := table{heading: []string{name, "trials", "example", "as it came"}}
	for _, c := range list {
		t.rows = append(t.rows, []string{c.Name, fmt.Sprint(c.Trials), fmt.Sprintf("%s, trial %d", c.Example.Task, c.Example.Trial), clip(c.Example.Said, 160)})
	}
	return section{title: title, tables: []table{t}}
}

func (r Report) routes() section {
	if r.Switch == nil {
		return section{}
	}
	s := r.Switch
	lines := []string{fmt.Sprintf("The same trials on both routes: %d passed on both, %d on the chat route alone, %d on the raw route alone, %d on neither.", s.Both, s.ChatOnly, s.RawOnly, s.Neither)}
	if len(s.Lost) > 0 {
		lines = append(lines, "The raw text held a well-formed call that the chat route lost or changed in: "+some(s.Lost)+".")
	}
	return section{title: "Chat route against raw route", lines: lines, tables: []table{partTable("route", r.Routes)}}
}

func (r Report) speed() section {
	s := r.Summary
	if s.Scored == 0 {
		return section{}
	}
	t := table{heading: []string{"figure", "value"}, rows: [][]string{
		{"turns a trial", fmt.Sprintf("%.2f", s.Turns)},
		{"calls a trial", fmt.Sprintf("%.2f", s.Calls)},
		{"output tokens a trial", fmt.Sprintf("%.1f", s.OutputLength)},
		{"prompt tokens in all", fmt.Sprint(s.PromptTokens)},
		{"output tokens in all", fmt.Sprint(s.OutputTokens)},
		{"output tokens a second", fmt.Sprintf("%.1f", s.TokensPerSecond)},
		{"time waited for the model", fmt.Sprintf("%.1f s", s.Seconds)},
	}}
	return section{title: "Tokens and speed", tables: []table{t}}
}

func (r Report) setup() section {
	t := table{heading: []string{"setting", "value"}, rows: [][]string{
		{"run", r.Run.Name},
		{"begun", r.Run.Created.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"model", r.Run.Model},
		{"model digest", r.Run.Digest},
		{"routes", strings.Join(r.Run.Routes, ", ")},
		{"trials of each task", fmt.Sprint(r.Run.Trials)},
		{"seed of sampling", fmt.Sprint(r.Run.Seed)},
		{"options", string(r.Run.Options)},
	}}
	for _, s := range r.Servers {
		t.rows = append(t.rows, []string{"server", fmt.Sprintf("%s, version %s, template %s, %d trials", s.Address, known(s.Version), known(s.Template), s.Trials)})
	}
	return section{title: "How it was run", tables: []table{t}, code: shell(r.Run.Command)}
}

func known(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// shell writes a command so that a shell reads the same words.
func shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'`$&|;<>()*?[]{}~#!\\") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted[i] = w
	}
	return strings.Join(quoted, " ")
}
