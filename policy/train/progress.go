package train

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/telemetry"
	"toolgym/tools"
)

// progress is the state of a run except its learner and its random source. It is part
// of checkpoints.
type progress struct {
	Config      Config      `json:"config"`
	Updates     int         `json:"updates"` // made, restarts included
	Restarts    int         `json:"restarts"`
	Since       int         `json:"since"` // Updates at the last restart
	Rates       []float64   `json:"rates"` // success of sampled plans, a moving average per level
	Best        []best      `json:"best"`  // per level
	Convergence convergence `json:"convergence"`
	Mastered    bool        `json:"mastered"` // all levels are mastered: the run has ended
	CPU         float64     `json:"cpu_s"`
	Saved       int         `json:"saved"` // Updates when it was saved last
}

// best is the best score of a level's greedy plans.
type best struct {
	Score float64 `json:"score"`
	At    int     `json:"at"` // the update
}

// convergence tracks how long the plans of a run at mastery have not become shorter.
type convergence struct {
	Steps float64 `json:"steps"` // shortest so far, summed over the levels
	Count int     `json:"count"` // evaluations since then
}

func newProgress(levels int) progress {
	p := progress{Rates: make([]float64, levels)}
	p.reset(levels)
	return p
}

func (p *progress) reset(levels int) {
	p.Best = make([]best, levels)
	for i := range p.Best {
		p.Best[i] = best{Score: -math.MaxFloat64, At: p.Updates}
	}
}

// restart counts a restart and resets what was reached.
func (p *progress) restart() {
	p.Restarts++
	p.Since = p.Updates
	p.Convergence = convergence{}
	clear(p.Rates)
	p.reset(len(p.Rates))
}

// converged records an evaluation, and reports whether all levels are at mastery and
// their plans have not become shorter for c.Convergence evaluations.
func (p *progress) converged(standings []telemetry.StageResult, c Config) bool {
	if !c.reached(standings, mastered) {
		p.Convergence = convergence{}
		return false
	}
	steps := 0.0
	for _, s := range standings {
		steps += s.Steps
	}
	p.Convergence.Count++
	if p.Convergence.Steps == 0 || steps < p.Convergence.Steps-0.05 {
		p.Convergence = convergence{Steps: steps}
	}
	return p.Convergence.Count >= c.Convergence
}

// stuck records an evaluation, and reports whether a level that is not good enough
// has made no progress for c.Patience updates. Progress is a hundredth of success, or
// a twentieth of a reward.
func (p *progress) stuck(standings []telemetry.StageResult, c Config) bool {
	stuck := false
	for i, s := range standings {
		b := &p.Best[i]
		if score := s.Success + s.Reward/(5*c.Scale); score > b.Score+0.01 {
			*b = best{score, p.Updates}
		}
		patience := c.Patience
		if s.Success >= mastered {
			patience /= 4 // the plans are only too long: deterministic plans rarely become shorter
		}
		stuck = stuck || !c.reached(standings[i:i+1], goodEnough) && p.Updates-b.At >= patience
	}
	return stuck && !p.Mastered
}

// finished reports whether the run has ended.
func (t *Trainer) finished() bool {
	return t.progress.Mastered || t.progress.Updates >= t.config.Updates
}

// Unfinished returns a [*tools.Error] if the run is finished.
func (t *Trainer) Unfinished() error {
	switch {
	case t.progress.Mastered:
		return &tools.Error{Code: tools.Conflict, Where: "resume", Message: fmt.Sprintf("the run is finished: all stages were mastered at update %d", t.progress.Updates), Want: "an unfinished run, or a new one"}
	case t.finished():
		return &tools.Error{Code: tools.Conflict, Where: "resume", Message: fmt.Sprintf("the run is finished after %d of %d updates", t.progress.Updates, t.config.Updates), Want: "a larger total number of updates"}
	}
	return nil
}

// save writes the checkpoint if the options name one.
func (t *Trainer) save(o Options, m *meter) error {
	if o.Checkpoint == "" {
		return nil
	}
	t.progress.CPU = m.spent()
	write := func() error { return t.Save(o.Checkpoint) }
	if o.Save != nil {
		return o.Save(write)
	}
	return write()
}

// Save writes a checkpoint from which the run continues bit for bit.
func (t *Trainer) Save(path string) error {
	t.progress.Saved = t.progress.Updates
	c, err := t.checkpoint()
	if err != nil {
		return err
	}
	if c.Random, err = t.pcg.MarshalBinary(); err != nil {
		return fmt.Errorf("encoding the random source: %w", err)
	}
	return t.learner.Save(path, c)
}

// SaveNet writes a checkpoint for acting, with what the network was trained on.
func (t *Trainer) SaveNet(path string) error {
	c, err := t.checkpoint()
	if err != nil {
		return err
	}
	c.Update = t.learner.Updates()
	return t.Net().Save(path, c)
}

func (t *Trainer) checkpoint() (policy.Checkpoint, error) {
	t.progress.Config = t.config
	text, err := json.Marshal(t.progress)
	if err != nil {
		return policy.Checkpoint{}, fmt.Errorf("encoding the progress: %w", err)
	}
	return policy.Checkpoint{Env: t.config.Env, Rules: t.config.Rules, Seed: t.config.Seed, Progress: text}, nil
}

// Resume reads a checkpoint to continue from. If updates is above 0, it replaces the
// run's maximum. An invalid checkpoint is a [*tools.Error].
func Resume(specs tools.Specs, path string, updates int) (*Trainer, error) {
	learner, checkpoint, err := policy.LoadLearner(path)
	if err != nil {
		return nil, err
	}
	p, err := decodeProgress(checkpoint.Progress)
	if err != nil {
		return nil, refusal.Below(path+": ", err)
	}
	if made := p.Updates - p.Since; learner.Updates() != made {
		return nil, refusal.New(path+": update", fmt.Sprintf("%d, those since the start or the last restart", made), "%d updates", learner.Updates())
	}
	if updates > 0 {
		p.Config.Updates = updates
	}
	p.Config.Network = learner.Net().Config()
	t, err := newFromCheckpoint(specs, p.Config, checkpoint.Random)
	if err != nil {
		return nil, refusal.Below(path+": ", err)
	}
	t.progress = p
	t.setLearner(learner)
	return t, nil
}

// newFromCheckpoint returns a trainer without a learner, with a restored random
// source.
func newFromCheckpoint(specs tools.Specs, c Config, random []byte) (*Trainer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	spec, err := specs.Lookup(c.Env)
	if err != nil {
		return nil, err
	}
	t, err := prepare(spec, c)
	if err != nil {
		return nil, err
	}
	if err := t.pcg.UnmarshalBinary(random); err != nil {
		return nil, refusal.New("random", "the state of the random source that was saved", "%v", err)
	}
	return t, nil
}

// ConfigOf returns the configuration that a checkpoint's network was trained with. A
// checkpoint without one is a [*tools.Error].
func ConfigOf(c policy.Checkpoint) (Config, error) {
	p, err := decodeProgress(c.Progress)
	return p.Config, err
}

// decodeProgress decodes what Save encoded.
func decodeProgress(text json.RawMessage) (progress, error) {
	var p progress
	const want = "a checkpoint of a training run"
	if len(text) == 0 {
		return p, refusal.New("progress", want, "missing: no training run wrote this checkpoint")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, refusal.New("progress", want, "%v", err)
	}
	if n := len(p.Config.Levels); len(p.Rates) != n || len(p.Best) != n || p.Updates < 0 || p.Since < 0 || p.Since > p.Updates {
		return p, refusal.New("progress", want, "its numbers are inconsistent")
	}
	for i, rate := range p.Rates {
		if !(rate >= 0 && rate <= 1) {
			return p, refusal.New(fmt.Sprintf("progress/rates/%d", i), "0 to 1", "%v", rate)
		}
	}
	return p, nil
}
