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

// progress is where a run stands, besides its learner and its random source. It
// travels in checkpoints.
type progress struct {
	Config   Config    `json:"config"`
	Updates  int       `json:"updates"` // made, restarts included
	Restarts int       `json:"restarts"`
	Since    int       `json:"since"` // the updates made before the last restart
	Rates    []float64 `json:"rates"` // success of sampled plans, a running mean for each level
	Best     []best    `json:"best"`  // for each level
	Polish   polish    `json:"polish"`
	Mastered bool      `json:"mastered"` // the run has ended before its budget
	CPU      float64   `json:"cpu_s"`
	Saved    int       `json:"saved"` // the updates made when it was saved last
}

// best is the best that a level's greedy plans have come to.
type best struct {
	Score float64 `json:"score"`
	At    int     `json:"at"` // the update
}

// polish is how far the plans of a run that masters its levels are from getting
// shorter no more.
type polish struct {
	Steps float64 `json:"steps"` // the shortest so far, a sum over the levels
	Count int     `json:"count"` // evaluations since then
}

func newProgress(levels int) progress {
	p := progress{Rates: make([]float64, levels)}
	p.forget(levels)
	return p
}

func (p *progress) forget(levels int) {
	p.Best = make([]best, levels)
	for i := range p.Best {
		p.Best[i] = best{Score: -math.MaxFloat64, At: p.Updates}
	}
}

// restart counts a restart and forgets what was reached.
func (p *progress) restart() {
	p.Restarts++
	p.Since = p.Updates
	p.Polish = polish{}
	clear(p.Rates)
	p.forget(len(p.Rates))
}

// polished takes an evaluation in, and reports whether all levels look mastered
// and their plans have not got shorter for long enough.
func (p *progress) polished(standings []telemetry.Standing, c Config) bool {
	if !c.reached(standings, mastered) {
		p.Polish = polish{}
		return false
	}
	steps := 0.0
	for _, s := range standings {
		steps += s.Steps
	}
	p.Polish.Count++
	if p.Polish.Steps == 0 || steps < p.Polish.Steps-0.05 {
		p.Polish = polish{Steps: steps}
	}
	return p.Polish.Count >= c.Polish
}

// stuck takes an evaluation in, and reports whether a level that is not good
// enough has made no progress for long. Progress is a hundredth of success, or
// a twentieth of a reward.
func (p *progress) stuck(standings []telemetry.Standing, c Config) bool {
	stuck := false
	for i, s := range standings {
		b := &p.Best[i]
		if score := s.Success + s.Reward/(5*c.Scale); score > b.Score+0.01 {
			*b = best{score, p.Updates}
		}
		patience := c.Patience
		if s.Success >= mastered {
			patience /= 4 // only too long: plans that are sure of themselves seldom get shorter
		}
		stuck = stuck || !c.reached(standings[i:i+1], goodEnough) && p.Updates-b.At >= patience
	}
	return stuck && !p.Mastered
}

// finished tells whether the run has come to its end.
func (t *Trainer) finished() bool {
	return t.progress.Mastered || t.progress.Updates >= t.config.Updates
}

// Unfinished refuses a run that is finished, as an [*tools.Error].
func (t *Trainer) Unfinished() error {
	switch {
	case t.progress.Mastered:
		return &tools.Error{Code: tools.Conflict, Where: "resume", Message: fmt.Sprintf("the run is finished: all stages were mastered at update %d", t.progress.Updates), Want: "a run that is not, or a new one"}
	case t.finished():
		return &tools.Error{Code: tools.Conflict, Where: "resume", Message: fmt.Sprintf("the run is finished: %d of %d updates are made", t.progress.Updates, t.config.Updates), Want: "a larger budget of updates in all"}
	}
	return nil
}

// save writes the checkpoint, if there is to be one.
func (t *Trainer) save(o Options, m *meter) error {
	if o.Checkpoint == "" {
		return nil
	}
	t.progress.CPU = m.spent()
	return t.Save(o.Checkpoint)
}

// Save writes all that is needed to go on bit for bit.
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

// SaveNet writes what is needed to act, and what it was trained on.
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

// Resume reads a checkpoint to go on from. A budget of updates above 0 takes
// the place of the run's own. What can not be used is an [*tools.Error].
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
		return nil, refusal.New(path+": update", fmt.Sprintf("%d, those since the run began or began again", made), "%d updates", learner.Updates())
	}
	if updates > 0 {
		p.Config.Updates = updates
	}
	p.Config.Network = learner.Net().Config()
	t, err := revive(specs, p.Config, checkpoint.Random)
	if err != nil {
		return nil, refusal.Below(path+": ", err)
	}
	t.progress = p
	t.adopt(learner)
	return t, nil
}

// revive returns a trainer without a learner, whose random source is where it was.
func revive(specs tools.Specs, c Config, random []byte) (*Trainer, error) {
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

// ConfigOf tells what a checkpoint's network was trained on. A checkpoint that
// does not say is an [*tools.Error].
func ConfigOf(c policy.Checkpoint) (Config, error) {
	p, err := decodeProgress(c.Progress)
	return p.Config, err
}

// decodeProgress reads what Save wrote.
func decodeProgress(text json.RawMessage) (progress, error) {
	var p progress
	const want = "a checkpoint of a training run"
	if len(text) == 0 {
		return p, refusal.New("progress", want, "missing: this checkpoint was not made by a run")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, refusal.New("progress", want, "%v", err)
	}
	if n := len(p.Config.Levels); len(p.Rates) != n || len(p.Best) != n || p.Updates < 0 || p.Since < 0 || p.Since > p.Updates {
		return p, refusal.New("progress", want, "its numbers do not fit each other")
	}
	for i, rate := range p.Rates {
		if !(rate >= 0 && rate <= 1) {
			return p, refusal.New(fmt.Sprintf("progress/rates/%d", i), "a share, 0 to 1", "%v", rate)
		}
	}
	return p, nil
}
