package lab

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// mostFindings bounds what a page lists of a hostile completion.
const mostFindings = 200

// A finding is one thing that there is to say about a completion.
type finding struct {
	Number int
	Kind   string // of its place; empty without one
	Where  string // line and column; empty without a place
	Title  string
	Badge  string
	Tone   string // good, warn, bad or empty
	Notes  []string

	start, end int
}

// Placed reports whether the text has a mark for it.
func (f finding) Placed() bool { return f.Kind != "" }

// findings lists what a reading and, where there is one, a score say about a
// text: first what has a place in it, in the order of the text, then the rest.
func findings(text string, reading parse.Reading, score *grpo.Score, expected []match.Call) (list []finding, more int) {
	said := map[parse.Defect]bool{}
	var judged []grpo.Call
	if score != nil && len(score.Calls) == len(reading.Attempts) {
		judged = score.Calls
	}
	for i, attempt := range reading.Attempts {
		call := grpo.Call{Attempt: attempt}
		if judged != nil {
			call = judged[i]
			call.Span = attempt.Span
		}
		list = append(list, ofCall(i, call), ofFault(text, call))
		list = append(list, ofArguments(text, call, expected)...)
		for _, d := range attempt.Defects {
			said[d] = true
		}
	}
	list = append(list, ofReasoning(text, reading, said)...)
	if reading.MadeUp.End > reading.MadeUp.Start {
		said[parse.DefectFabricated] = true
		list = append(list, finding{Kind: placeUnread, Title: "A result that the model made up", Badge: "not read", Tone: "bad", start: reading.MadeUp.Start, end: reading.MadeUp.End,
			Notes: []string{"Only the environment says what a tool answers. From here on nothing is read, and the task cannot count as solved."}})
	}
	list = slices.DeleteFunc(list, func(f finding) bool { return f.Title == "" })
	slices.SortStableFunc(list, func(a, b finding) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	list = append(list, ofWhole(reading, score, said)...)
	if len(list) > mostFindings {
		list, more = list[:mostFindings], len(list)-mostFindings
	}
	return number(text, list), more
}

// number gives findings their numbers, and says where they are.
func number(text string, list []finding) []finding {
	measure := ruler{text: text}
	for i := range list {
		f := &list[i]
		f.Number = i + 1
		if f.Placed() {
			line, column := measure.measure(f.start)
			f.Where = fmt.Sprintf("line %d, column %d", line, column)
		}
	}
	return list
}

// ofCall is what an attempt is, as a whole.
func ofCall(i int, call grpo.Call) finding {
	f := finding{Kind: placeLost, Title: fmt.Sprintf("Attempt %d does not count", i+1), Badge: statusWord(call.Status), Tone: "bad", start: call.Span.Start, end: call.Span.End}
	if call.Counts() {
		f.Kind, f.Title, f.Badge, f.Tone = string(call.Tier), fmt.Sprintf("Call %d: %s", i+1, clipped(call.Name, 60)), string(call.Tier), "warn"
		if call.Tier == parse.Strict {
			f.Tone = "good"
		}
	}
	if f.end == f.start {
		f.Kind = "" // the text has no place for it
	}
	for _, d := range call.Defects {
		f.Notes = append(f.Notes, defectWords(d))
	}
	if note := verdictWords(call); note != "" {
		f.Notes = append(f.Notes, note)
	}
	return f
}

// ofFault is the place at which the payload of an attempt that was lost stops
// being JSON. Without a title there is none.
func ofFault(text string, call grpo.Call) finding {
	if call.Counts() || call.Span.End > len(text) || call.Family == parse.Structured {
		return finding{}
	}
	body := text[call.Span.Start:call.Span.End]
	brace := strings.IndexByte(body, '{')
	if brace < 0 {
		return finding{}
	}
	_, _, err := strictjson.Defaults().Object(body[brace:])
	e, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return finding{}
	}
	at := call.Span.Start + brace + e.Offset
	title := "Here it stops being JSON"
	if e.Cut() {
		title = "Here it breaks off"
	}
	return finding{Kind: placeArgument, Title: title, Badge: "JSON", Tone: "bad", Notes: []string{sentence(e.Message)}, start: at, end: min(at+1, call.Span.End)}
}

// ofArguments are the values that break the schema, or differ from what is
// expected, at their own place where the arguments are JSON.
func ofArguments(text string, call grpo.Call, expected []match.Call) (list []finding) {
	spans := argumentSpans(text, call.Attempt)
	add := func(argument, title, badge, tone, note string) {
		f := finding{Kind: placeArgument, Title: title, Badge: badge, Tone: tone, Notes: []string{note}, start: call.Span.Start, end: call.Span.Start}
		if span, ok := spans[argument]; ok {
			f.start, f.end = span.Start, span.End
		} else if call.Span.End == call.Span.Start {
			f.Kind = ""
		}
		list = append(list, f)
	}
	told := map[string]bool{}
	for _, v := range call.Violations {
		if v.Keyword == "additionalProperties" && len(call.UnknownArguments) > 0 {
			continue // each of them is told below
		}
		argument := ""
		if path := strictjson.Path(v.Pointer); len(path) > 0 {
			argument = path[0]
		}
		told[argument] = true
		add(argument, "The schema does not admit "+place(v), v.Keyword, "bad", sentence(v.Message))
	}
	for _, argument := range call.UnknownArguments {
		told[argument] = true
		add(argument, "No argument is called "+clipped(argument, 60), "unknown", "bad", "The schema of the tool does not name it.")
	}
	if call.Verdict == grpo.VerdictWrong {
		for _, argument := range call.Differs {
			if told[argument] {
				continue
			}
			add(argument, clipped(argument, 60)+" is not the expected value", "wrong", "bad", "It is valid"+instead(expected, call.Expected, argument))
		}
	}
	return list
}

// instead says which value an expected call has in place of one that differs.
func instead(expected []match.Call, which *int, argument string) string {
	var arguments map[string]json.RawMessage
	if which == nil || *which >= len(expected) || json.Unmarshal(expected[*which].Arguments, &arguments) != nil {
		return ", and not what is asked for."
	}
	if value, ok := arguments[argument]; ok {
		return "; " + clipped(string(value), 200) + " is expected."
	}
	return "; it is not expected at all."
}

func place(v tools.Violation) string {
	if v.Pointer == "" {
		return "these arguments"
	}
	return clipped(strings.TrimPrefix(v.Pointer, "/"), 60)
}

// argumentSpans are the values of an attempt's arguments in the text, as far as
// they are written as JSON.
func argumentSpans(text string, a parse.Attempt) map[string]parse.Span {
	if a.Span.End > len(text) || a.Raw == "" {
		return nil
	}
	at := strings.LastIndex(text[a.Span.Start:a.Span.End], a.Raw)
	members, _, err := strictjson.Defaults().Object(a.Raw)
	if at < 0 || err != nil {
		return nil
	}
	spans := map[string]parse.Span{}
	for _, m := range members {
		spans[m.Key] = parse.Span{Start: a.Span.Start + at + m.Start, End: a.Span.Start + at + m.End}
	}
	return spans
}

func ofReasoning(text string, reading parse.Reading, said map[parse.Defect]bool) (list []finding) {
	for _, span := range reading.Hidden {
		if strings.TrimSpace(text[span.Start:span.End]) == "" {
			continue
		}
		f := finding{Kind: placeReasoning, Title: "Reasoning", Badge: "hidden", start: span.Start, end: span.End,
			Notes: []string{"It is not shown to the user, and no call in it counts."}}
		for _, d := range []parse.Defect{parse.DefectCallInReasoning, parse.DefectReasoningUnclosed} {
			if reading.Has(d) && !said[d] {
				said[d], f.Tone = true, "bad"
				f.Notes = append(f.Notes, defectWords(d))
			}
		}
		list = append(list, f)
	}
	return list
}

// ofWhole is what has no place: defects of the completion as a whole, what was
// expected and is not there, and failures that are not the model's.
func ofWhole(reading parse.Reading, score *grpo.Score, said map[parse.Defect]bool) (list []finding) {
	defects := reading.Defects
	if score != nil {
		defects = score.Defects
		wrong := map[string]int{}
		for _, call := range score.Calls {
			if call.Verdict == grpo.VerdictWrong {
				wrong[call.Name]++ // which stands in the place of one
			}
		}
		for _, call := range score.Missing {
			if wrong[call.Name]--; wrong[call.Name] >= 0 {
				continue
			}
			list = append(list, finding{Title: "Missing: " + clipped(call.Name, 60), Badge: "missing", Tone: "bad", Notes: []string{"The call was expected, with " + clipped(string(call.Arguments), 200) + "."}})
		}
	}
	for _, d := range defects {
		if !said[d] {
			said[d] = true
			list = append(list, finding{Title: titled(string(d)), Badge: "defect", Tone: "warn", Notes: []string{defectWords(d)}})
		}
	}
	if reading.Failure != nil {
		list = append(list, finding{Title: "Not the model's fault", Badge: reading.Failure.Kind, Tone: "warn", Notes: []string{sentence(reading.Failure.Reason)}})
	}
	return list
}

// marks are the places of findings, of those that lie in the text at all.
func marks(list []finding) (places []stretch) {
	for _, f := range list {
		if f.Placed() {
			places = append(places, stretch{f.start, f.end, f.Kind, f.Number})
		}
	}
	return places
}
