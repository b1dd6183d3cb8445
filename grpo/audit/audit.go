package audit

import (
	"context"
	"fmt"

	"toolgym/grpo"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// A Finding is what one attack on one task was worth. Reward is nil where the
// attack was not scored at all: a way round a low reward, and a hole as well.
type Finding struct {
	Attack   string   `json:"attack"`
	Task     string   `json:"task"`
	Reward   *float64 `json:"reward"`
	NearMiss float64  `json:"near_miss"`
	Passed   bool     `json:"passed"` // the attack was scored, and not above the near miss
}

// A Report lists all findings in a fixed order.
type Report struct {
	Passed   bool      `json:"passed"`
	Findings []Finding `json:"findings"`
}

// Holes are the findings that did not pass.
func (r Report) Holes() []Finding {
	var holes []Finding
	for _, f := range r.Findings {
		if !f.Passed {
			holes = append(holes, f)
		}
	}
	return holes
}

// String says it in a line.
func (f Finding) String() string {
	if f.Reward == nil {
		return fmt.Sprintf("%s on %s: is not scored at all, beside the near miss's %.4g", f.Attack, f.Task, f.NearMiss)
	}
	relation := "is not above"
	if !f.Passed {
		relation = "is above"
	}
	return fmt.Sprintf("%s on %s: %.4g %s the near miss's %.4g", f.Attack, f.Task, *f.Reward, relation, f.NearMiss)
}

// rounding is how far two sums of the same criteria may lie apart.
const rounding = 1e-9

// Run makes every attack against every task. The error is the rubric's (a
// [*tools.Error]), the context's, or that a task has no near miss by which the
// rubric could be judged.
func Run(ctx context.Context, envs tools.Specs, rubric grpo.Rubric) (Report, error) {
	scorer, err := grpo.NewScorer(envs, rubric)
	if err != nil {
		return Report{}, err
	}
	subjects, err := subjects(ctx, envs)
	if err != nil {
		return Report{}, err
	}
	report := Report{Passed: true}
	for _, s := range subjects {
		findings, err := attack(ctx, scorer, s)
		if err != nil {
			return Report{}, fmt.Errorf("attacking %s: %w", s.name, err)
		}
		for _, f := range findings {
			report.Passed = report.Passed && f.Passed
		}
		report.Findings = append(report.Findings, findings...)
	}
	return report, nil
}

// attack scores the near miss and all attacks as one group.
func attack(ctx context.Context, scorer *grpo.Scorer, s subject) ([]Finding, error) {
	group := s.group
	near := s.nearMiss()
	group.Completions = []grpo.Completion{written(near)}
	names := []string{""}
	for _, a := range attacks() {
		if a.spoken && s.said == "" {
			continue
		}
		names = append(names, a.name)
		group.Completions = append(group.Completions, a.make(s))
	}
	response, err := scorer.Score(ctx, grpo.Request{Groups: []grpo.Group{group}})
	if err != nil {
		return nil, err
	}
	scores := response.Groups[0].Completions
	if scores[0].Reward == nil {
		return nil, refusal.New("/criteria", "criteria that can always be worked out", "an honest near miss has no reward: %s", scores[0].Failure.Reason)
	}
	var findings []Finding
	for i, score := range scores[1:] {
		f := Finding{Attack: names[i+1], Task: s.name, Reward: score.Reward, NearMiss: *scores[0].Reward}
		f.Passed = f.Reward != nil && *f.Reward <= f.NearMiss+rounding
		findings = append(findings, f)
	}
	return findings, nil
}

// written is a completion of one text in the hermes form.
func written(text string) grpo.Completion {
	return grpo.Completion{Text: &text, Family: "hermes", FinishReason: "stop", Tokens: tokens(len(text))}
}

// tokens puts a text at a token for each four bytes, for rubrics that pay by
// the token: nothing is tokenised here.
func tokens(bytes int) *int {
	n := (bytes + 3) / 4
	return &n
}
