package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/parse"
	"toolgym/grpo/rollout"
	"toolgym/internal/plain"
)

// A Category is one way to fail, or one reason not to be graded.
type Category struct {
	Name    string  `json:"name"`
	Trials  int     `json:"trials"`
	Example Example `json:"example"`
}

// An Example is one trial of a category.
type Example struct {
	Task  string `json:"task"`
	Trial int    `json:"trial"`
	Route string `json:"route"`
	Said  string `json:"said"` // the end of what the model wrote, or the reason
}

// taxonomy files every trial that did not pass under one category, the most
// frequent first.
func taxonomy(records []eval.Record) (failures, excluded []Category) {
	failures, excluded = []Category{}, []Category{} // JSON shows an empty list, not null
	for _, r := range records {
		switch {
		case r.Failure != nil:
			excluded = file(excluded, r.Failure.Kind+": "+clip(r.Failure.Reason, 80), r, r.Failure.Reason)
		case !r.Success:
			failures = file(failures, category(r.Trial), r, said(r))
		}
	}
	for _, list := range [][]Category{failures, excluded} {
		slices.SortStableFunc(list, func(a, b Category) int { return cmp.Compare(b.Trials, a.Trials) })
	}
	return failures, excluded
}

func file(list []Category, name string, r eval.Record, text string) []Category {
	at := slices.IndexFunc(list, func(c Category) bool { return c.Name == name })
	if at < 0 {
		at = len(list)
		list = append(list, Category{Name: name, Example: Example{r.Task, r.Trial.Trial, r.Route, clip(text, 400)}})
	}
	list[at].Trials++
	return list
}

// category names what went wrong first: how it was written goes before what it
// says, and that before what came of it.
func category(t eval.Trial) string {
	has := func(d parse.Defect) bool { return slices.Contains(t.Defects, d) }
	verdict := func(v string) bool {
		return slices.ContainsFunc(t.Calls, func(c grpo.Call) bool { return c.Verdict == v })
	}
	violates := func(c grpo.Call) bool { return len(c.Violations) > 0 }
	unknown := func(c grpo.Call) bool { return c.Has(parse.DefectUnknownTool) }
	switch {
	case has(parse.DefectFabricated):
		return "made up a tool's result"
	case t.FinishReason == "length":
		return "cut off by the token limit"
	case t.Tier == parse.None:
		return "malformed call"
	case len(t.Calls) == 0:
		return "called nothing"
	case slices.ContainsFunc(t.Calls, unknown):
		return "called a tool that does not exist"
	case slices.ContainsFunc(t.Calls, violates):
		return "arguments against the schema"
	case verdict(grpo.VerdictWrong):
		return "right tool, wrong arguments"
	case len(t.Missing) > 0:
		return "an expected call is missing"
	case verdict(grpo.VerdictExtra) || verdict(grpo.VerdictRepeated):
		return "calls beyond the expected ones"
	case verdict(grpo.VerdictRefused):
		return "a call that the environment refused"
	}
	return "well-formed calls, task not solved"
}

// Short is a record without what a report of it leaves out: the transcript is the
// end of what the model said, and the trial is short.
func Short(r eval.Record) eval.Record {
	text := strings.Join(strings.Fields(said(r)), " ")
	r.Trial = r.Short()
	r.Transcript = nil
	if r.Failure == nil && !r.Success {
		runes := 0
		for i := range text {
			if runes++; runes > mostSaid {
				text = text[:i]
				break
			}
		}
		r.Transcript, _ = json.Marshal(map[string]any{"messages": []map[string]string{{"role": "assistant", "content": text}}}) // texts always encode
	}
	return r
}

// mostSaid bounds what is kept of the model's last message, in characters: more
// than any format shows.
const mostSaid = 2_100

// said is the last message of the model.
func said(r eval.Record) string {
	var transcript rollout.Transcript
	if json.Unmarshal(r.Transcript, &transcript) != nil {
		return ""
	}
	for _, text := range slices.Backward(transcript.Messages) {
		var message struct {
			Role      string          `json:"role"`
			Content   string          `json:"content"`
			ToolCalls json.RawMessage `json:"tool_calls"`
			Error     string          `json:"error"`
		}
		if json.Unmarshal(text, &message) != nil || message.Role == "tool" {
			continue
		}
		return strings.TrimSpace(message.Error + message.Content + " " + string(message.ToolCalls))
	}
	return ""
}

// clip puts a text on one line, keeps the beginning of one that is too long,
// and shows characters that are not seen.
func clip(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	text = plain.Line(text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
