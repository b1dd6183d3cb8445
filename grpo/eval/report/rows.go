package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"toolgym/grpo/eval"
	"toolgym/internal/plain"
)

// writeCSV writes a line a trial. A cell is empty where there is no value. The
// last cell of the first trial says what the whole report lacks, and why.
func (r Report) writeCSV(w io.Writer) error {
	names := criteriaOf(r.records)
	heading := []string{"run", "model", "route", "task", "env", "level", "trial", "seed", "success", "reward", "failure_kind", "failure_reason",
		"tier", "finish_reason", "turns", "calls", "prompt_tokens", "output_tokens", "seconds"}
	for _, name := range names {
		heading = append(heading, "criteria/"+name)
	}
	heading = append(heading, "report_notes")
	notes := strings.Join(r.notes(), " ")
	out := csv.NewWriter(w)
	_ = out.Write(heading) // the writer keeps its first error
	for _, record := range r.records {
		_ = out.Write(append(append(csvRow(record), criteriaCells(record.Trial, names)...), plain.Cell(notes)))
		notes = ""
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("writing the report as CSV: %w", err)
	}
	return nil
}

func csvRow(r eval.Record) []string {
	t, passed, reward, kind, reason := r.Trial, "", "", "", ""
	if t.Failure != nil {
		kind, reason = t.Failure.Kind, t.Failure.Reason
	} else {
		passed = strconv.FormatBool(t.Success)
	}
	if t.Reward != nil {
		reward = strconv.FormatFloat(*t.Reward, 'g', -1, 64)
	}
	return []string{plain.Cell(t.Run), plain.Cell(t.Model), t.Route, plain.Cell(t.Task), plain.Cell(t.Env), plain.Cell(t.Level), strconv.Itoa(t.Trial), strconv.Itoa(r.Seed), passed, reward, kind, plain.Cell(reason),
		string(t.Tier), plain.Cell(t.FinishReason), strconv.Itoa(t.Turns), strconv.Itoa(len(t.Calls)), strconv.Itoa(t.PromptTokens), strconv.Itoa(t.OutputTokens),
		strconv.FormatFloat(t.Duration.Seconds(), 'f', 3, 64)}
}

func criteriaCells(t eval.Trial, names []string) []string {
	cells := make([]string, len(names))
	for i, name := range names {
		if c, ok := t.Criteria.Named(name); ok && c.Error == "" {
			cells[i] = strconv.FormatFloat(c.Value, 'g', -1, 64)
		}
	}
	return cells
}

// The JUnit elements, as build servers read them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitNotes struct {
		List []junitNote `xml:"property"`
	}
	junitNote struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Seconds  string      `xml:"time,attr"`
		Notes    *junitNotes `xml:"properties"` // of the first suite: what the whole report lacks, and why
		Cases    []junitCase `xml:"testcase"`
		seconds  time.Duration
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Seconds string        `xml:"time,attr"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
	}
	junitProblem struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a suite a level and a case a trial.
func (r Report) writeJUnit(w io.Writer) error {
	all := junitSuites{Name: r.Run.Name}
	at := map[string]int{}
	for _, record := range r.records {
		name := record.Env + "/" + record.Level
		i, ok := at[name]
		if !ok {
			i = len(all.Suites)
			at[name] = i
			all.Suites = append(all.Suites, junitSuite{Name: name})
		}
		all.Suites[i].add(record)
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.Seconds = fmt.Sprintf("%.3f", s.seconds.Seconds())
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	if notes := r.notes(); len(notes) > 0 && len(all.Suites) > 0 {
		all.Suites[0].Notes = &junitNotes{}
		for _, note := range notes {
			all.Suites[0].Notes.List = append(all.Suites[0].Notes.List, junitNote{"report_note", note})
		}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	encoder := xml.NewEncoder(&b)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return fmt.Errorf("writing the report as JUnit: %w", err)
	}
	b.WriteString("\n")
	return sendShown(w, b.Bytes())
}

func (s *junitSuite) add(r eval.Record) {
	c := junitCase{Class: r.Env + "." + r.Level, Name: fmt.Sprintf("%s trial %d (%s)", r.Task, r.Trial.Trial, r.Route), Seconds: fmt.Sprintf("%.3f", r.Duration.Seconds())}
	switch {
	case r.Failure != nil:
		c.Error = &junitProblem{Type: r.Failure.Kind, Message: r.Failure.Reason}
		s.Errors++
	case !r.Success:
		c.Failure = &junitProblem{Type: "model", Message: category(r.Trial), Text: clip(said(r), 2000)}
		s.Failures++
	}
	s.Tests++
	s.seconds += r.Duration
	s.Cases = append(s.Cases, c)
}
