package telemetry

import (
	"slices"

	"toolgym/policy"
)

// Record is one update.
type Record struct {
	policy.Metrics
	Stages []string `json:"stages"`
	// Success is the success rate of the plans that were sampled, for each
	// stage; null for a stage that had no task in the batch.
	Success []*float64 `json:"success"`
	// Restarts is how often the run has started again.
	Restarts         int     `json:"restarts"`
	UpdatesPerSecond float64 `json:"updates_per_second"`
	// Greedy is the evaluation made after this update, where one was due.
	Greedy []Standing `json:"greedy,omitempty"`
}

// SuccessOf is the success of a stage; nil where it had no task, or is not the
// run's.
func (r Record) SuccessOf(stage string) *float64 {
	if i := slices.Index(r.Stages, stage); i >= 0 && i < len(r.Success) {
		return r.Success[i]
	}
	return nil
}

// Standing is how greedy plans do at a stage: means over a number of tasks.
type Standing struct {
	Stage   string  `json:"stage"`
	Tasks   int     `json:"tasks"`
	Reward  float64 `json:"reward"`
	Success float64 `json:"success"`
	Steps   float64 `json:"steps"`             // tokens played
	Optimal float64 `json:"optimal,omitempty"` // calls of the shortest solutions, where the tasks tell
	Plan    string  `json:"plan"`              // the most frequent plan
}

// figure is a named number of a record.
type figure struct {
	name  string
	value float64
}

// figures lists the numbers of a record under the names of its JSON form.
func (r Record) figures() []figure {
	list := []figure{
		{"reward", r.Reward}, {"advantage", r.Advantage}, {"policy_loss", r.PolicyLoss}, {"value_loss", r.ValueLoss},
		{"entropy", r.Entropy}, {"loss", r.Loss}, {"grad_norm", r.GradNorm}, {"tool_mass", r.ToolMass}, {"call_prob", r.CallProb},
		{"restarts", float64(r.Restarts)}, {"updates_per_second", r.UpdatesPerSecond},
	}
	add := func(name string, value *float64) {
		if value != nil {
			list = append(list, figure{name, *value})
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
		list = append(list, figure{"greedy_success/" + g.Stage, g.Success}, figure{"greedy_reward/" + g.Stage, g.Reward})
	}
	return list
}
