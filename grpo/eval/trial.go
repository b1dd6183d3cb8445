package eval

import (
	"slices"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/eval/stats"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// A Trial is one attempt of a model at one task, graded.
type Trial struct {
	Run   string `json:"run"`
	Model string `json:"model"`
	Route string `json:"route"`
	Task  string `json:"task"` // the task's id
	Env   string `json:"env"`
	Level string `json:"level"`
	Trial int    `json:"trial"` // from 0

	grpo.Score

	FinishReason string        `json:"finish_reason"` // "length" is a cut-off
	Turns        int           `json:"turns"`
	PromptTokens int           `json:"prompt_tokens"`
	OutputTokens int           `json:"output_tokens"`
	Duration     time.Duration `json:"duration_ns"` // of waiting for the model
}

// scored reports whether the trial says something about the model.
func (t Trial) scored() bool { return t.Failure == nil }

// Short is the trial without what its calls say: all that summaries, comparisons
// and reports ask of it. Arguments of megabytes leave a few hundred bytes a call.
func (t Trial) Short() Trial {
	calls := make([]grpo.Call, len(t.Calls))
	for i := range t.Calls {
		c := &t.Calls[i]
		calls[i] = grpo.Call{Verdict: c.Verdict, Attempt: parse.Attempt{Status: c.Status, Tier: c.Tier}}
		if len(c.Violations) > 0 {
			calls[i].Violations = make([]tools.Violation, 1)
		}
		if c.Has(parse.DefectUnknownTool) {
			calls[i].Defects = []parse.Defect{parse.DefectUnknownTool}
		}
	}
	t.Calls = calls
	t.Missing = make([]tools.Call, len(t.Missing))
	t.Defects = slices.Clone(t.Defects)
	return t
}

// A tally is what became of the trials of one task.
type tally struct {
	task   string
	trials int
	stats.Count
}

// tallies counts trials by task, in the order of the tasks' first trials.
func tallies(trials []Trial) []tally {
	var list []tally
	at := map[string]int{}
	for _, t := range trials {
		i, ok := at[t.Task]
		if !ok {
			i = len(list)
			at[t.Task] = i
			list = append(list, tally{task: t.Task})
		}
		list[i].trials++
		if t.scored() {
			list[i].Scored++
		}
		if t.scored() && t.Success {
			list[i].Passed++
		}
	}
	return list
}

// counts are the tallies as the intervals take them. With worst, every trial
// counts as scored.
func counts(list []tally, worst bool) []stats.Count {
	out := make([]stats.Count, len(list))
	for i, t := range list {
		out[i] = t.Count
		if worst {
			out[i].Scored = t.trials
		}
	}
	return out
}

// single reports whether no task has more than one trial.
func single(list []tally) bool {
	return !slices.ContainsFunc(list, func(t tally) bool { return t.trials > 1 })
}
