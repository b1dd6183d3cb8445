package telemetry

import (
	"slices"

	"toolgym/policy"
)

// Record is the telemetry of one update.
type Record struct {
	policy.Metrics
	Stages []string `json:"stages"`
	// Success is the success rate of the sampled plans per stage; null for a stage
	// without a task in the batch.
	Success []*float64 `json:"success"`
	// Restarts is the number of restarts so far.
	Restarts         int     `json:"restarts"`
	UpdatesPerSecond float64 `json:"updates_per_second"`
	// Greedy is the evaluation after this update, if one was due.
	Greedy []StageResult `json:"greedy,omitempty"`
}

// SuccessOf returns the success of a stage, nil for a stage without a task.
func (r Record) SuccessOf(stage string) *float64 {
	if i := slices.Index(r.Stages, stage); i >= 0 && i < len(r.Success) {
		return r.Success[i]
	}
	return nil
}

// StageResult is the result of greedy plans at a stage: means over tasks.
type StageResult struct {
	Stage   string  `json:"stage"`
	Tasks   int     `json:"tasks"`
	Reward  float64 `json:"reward"`
	Success float64 `json:"success"`
	Steps   float64 `json:"steps"`             // tokens played
	Optimal float64 `json:"optimal,omitempty"` // calls of the shortest solutions, where known
	Plan    string  `json:"plan"`              // the most frequent plan
}

// scalar is a named number of a record.
type scalar struct {
	name  string
	value float64
}

// scalars lists the numbers of a record under the names of its JSON form.
func (r Record) scalars() []scalar {
	list := []scalar{
		{"reward", r.Reward}, {"advantage", r.Advantage}, {"policy_loss", r.PolicyLoss}, {"value_loss", r.ValueLoss},
		{"entropy", r.Entropy}, {"loss", r.Loss}, {"grad_norm", r.GradNorm}, {"tool_mass", r.ToolMass}, {"call_prob", r.CallProb},
		{"restarts", float64(r.Restarts)}, {"updates_per_second", r.UpdatesPerSecond},
	}
	add := func(name string, value *float64) {
		if value != nil {
			list = append(list, scalar{name, *value})
		}
	}
	add("kl", r.KL)
	add("clip_low", r.ClipLow)
	add("clip_high", r.ClipHigh)
	add("start_call_prob", r.StartCallProb)
	for i, s := range r.Success {
		add("success/"+r.Stages[i], s)
	}
	for _, g := range r.Greedy {
		list = append(list, scalar{"greedy_success/" + g.Stage, g.Success}, scalar{"greedy_reward/" + g.Stage, g.Reward})
	}
	return list
}
