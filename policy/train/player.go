package train

import (
	"math/rand/v2"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/tools"
)

// player draws tasks of an environment, and plays plans on its state machine.
type player struct {
	spec   tools.Spec
	env    tools.Enumerator
	config *Config
}

// use is what a task is drawn for.
type use bool

const (
	forTraining   use = false
	forEvaluation use = true
)

// start begins a task and writes its prompt.
func (p *player) start(level string, seed uint64, prompt *policy.Prompt) error {
	if err := p.env.Start(p.config.Rules, level, seed); err != nil {
		return err
	}
	return prompt.Read(p.env, level)
}

// draw draws tasks of a level until one may be used, and writes its prompt.
func (p *player) draw(level string, u use, rng *rand.Rand, prompt *policy.Prompt) (seed uint64, err error) {
	const draws = 100_000
	for range draws {
		seed := rng.Uint64()
		if err := p.start(level, seed, prompt); err != nil {
			return 0, err
		}
		if p.fits(u, prompt) {
			return seed, nil
		}
	}
	return 0, refusal.New("hold_out", "less, or 0", "level %s has no tasks left", level)
}

func (p *player) fits(u use, prompt *policy.Prompt) bool {
	if p.config.HoldOut > 0 && p.config.HeldOut(*prompt) != (u == forEvaluation) {
		return false
	}
	return u == forEvaluation || p.config.Accidental || !p.env.Accidental()
}

// outcome is what a plan came to.
type outcome struct {
	reward  float64
	length  int
	success bool
}

// play plays a plan on the task that was started last.
func play(env tools.Enumerator, plan []int) outcome {
	o := outcome{length: len(plan)}
	for t, token := range plan {
		reward, done := env.Act(token)
		o.reward += reward
		if done {
			o.length = t + 1
			break
		}
	}
	o.success = env.Success()
	return o
}
