package grpo

import (
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// A Line is a line of a scoring file: a completion, its group and its task.
type Line struct {
	Group    string          `json:"group,omitempty"`   // Completions of one prompt have the same.
	TaskID   string          `json:"task_id,omitempty"` // The task, or else tools and expected.
	Tools    tools.Set       `json:"tools,omitempty"`
	Expected *match.Expected `json:"expected,omitempty"`
	Completion
}

// A ScoredLine answers a Line.
type ScoredLine struct {
	Group     string         `json:"group"`
	Index     int            `json:"index"`  // Which completion of its group it is, from 0.
	Reward    *float64       `json:"reward"` // Null exactly where failure is set.
	Valid     bool           `json:"valid"`
	Failure   *Failure       `json:"failure"`
	Advantage float64        `json:"advantage"`
	Success   bool           `json:"success"`
	Criteria  Criteria       `json:"criteria"`
	Defects   []parse.Defect `json:"defects"`
	Tier      parse.Tier     `json:"tier"`
}
