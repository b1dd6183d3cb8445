package lab

import (
	"fmt"
	"strings"

	"toolgym/api/training"
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
)

// A figure is a number of the last update, with what to make of it.
type figure struct {
	Key   string `json:"key"`
	Name  string `json:"-"`
	Value string `json:"value"`
	Note  string `json:"note"`
	Badge string `json:"badge"` // empty for none
	Tone  string `json:"tone"`  // good or bad, of the badge
}

// figures are the numbers above the curves. They are those of the first run that
// is shown; before its first update they are dashes.
func (s *selection) figures() []figure {
	var r, begin telemetry.Record
	run := s.first()
	measured := run != nil && run.last() != nil
	if measured {
		r, begin = *run.last(), run.records[0]
	}
	value := func(v *float64) string {
		if !measured || v == nil {
			return "–"
		}
		return written(*v)
	}
	divergence := figure{Key: "kl", Name: "KL divergence", Value: value(r.KL), Note: fmt.Sprintf("bound %.2f nats", s.bound)}
	switch {
	case !measured || r.KL == nil:
	case *r.KL > s.bound:
		divergence.Badge, divergence.Tone = "over bound", "bad"
	default:
		divergence.Badge, divergence.Tone = "within bound", "good"
	}
	speed := "–"
	if measured {
		speed = fmt.Sprintf("%.1f", r.UpdatesPerSecond)
	}
	return []figure{
		{Key: "reward", Name: "Mean reward", Value: value(&r.Reward), Note: "first update " + value(&begin.Reward)},
		divergence,
		{Key: "tool_mass", Name: "Tool-token mass", Value: value(&r.ToolMass), Note: "first update " + value(&begin.ToolMass)},
		{Key: "call_prob", Name: "Call probability", Value: value(&r.CallProb), Note: "under the start " + value(r.StartCallProb)},
		{Key: "policy_loss", Name: "Policy loss", Value: value(&r.PolicyLoss), Note: lossNote(run)},
		{Key: "advantage", Name: "Advantage", Value: value(&r.Advantage), Note: "mean of its size"},
		{Key: "grad_norm", Name: "Gradient norm", Value: value(&r.GradNorm), Note: gradientNote(run)},
		{Key: "speed", Name: "Speed", Value: speed, Note: "updates a second"},
	}
}

func lossNote(run *laidRun) string {
	switch {
	case run == nil || run.Config.Algorithm != train.GRPO:
		return "actor’s part of the loss"
	case run.last() == nil || run.last().ClipLow == nil || run.last().ClipHigh == nil:
		return fmt.Sprintf("clipped at 1 ± %g", run.Config.Network.GRPO.Epsilon)
	}
	return fmt.Sprintf("%.1f %% clipped at 1 ± %g", 100*(*run.last().ClipLow+*run.last().ClipHigh), run.Config.Network.GRPO.Epsilon)
}

func gradientNote(run *laidRun) string {
	if run == nil {
		return "before clipping"
	}
	return fmt.Sprintf("clipped to %g", run.Config.Network.MaxGradNorm)
}

// A row is how a run stands, in the list of runs.
type row struct {
	ID        string `json:"id"`
	Iteration string `json:"iteration"`
	Updates   int    `json:"updates"`
	Budget    int    `json:"budget"`
	Speed     string `json:"speed"`

	Run    laidRun `json:"-"`
	Title  string  `json:"-"`
	Detail string  `json:"-"`
	Tone   string  `json:"-"` // of the badge of its state
	Shown  bool    `json:"-"`
}

func (r laidRun) row() row {
	line := row{ID: r.ID, Iteration: fmt.Sprintf("%d of %d", r.Updates, r.Config.Updates), Updates: r.Updates, Budget: r.Config.Updates,
		Run: r, Shown: r.shown, Title: titleOf(r.Config), Detail: r.Error}
	if last := r.last(); last != nil && r.State.State == training.Running {
		line.Speed = fmt.Sprintf("%.0f/s", last.UpdatesPerSecond)
	}
	switch r.State.State {
	case training.Done:
		line.Tone = "good"
		line.Detail = doneNote(r)
	case training.Failed:
		line.Tone = "bad"
	case training.Paused:
		line.Tone = "warn"
	}
	return line
}

// doneNote says how a run ended: how often its greedy plans solve fresh tasks.
func doneNote(r laidRun) string {
	if r.Result == nil || len(r.Result.Success) == 0 {
		return ""
	}
	var shares []string
	for _, share := range r.Result.Success {
		shares = append(shares, fmt.Sprintf("%.0f %%", 100*share))
	}
	return "greedy plans solve " + strings.Join(shares, ", ") + " of fresh tasks"
}
