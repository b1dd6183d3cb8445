package train

import (
	"errors"
	"math/rand/v2"

	"toolgym/grpo/objective"
	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/telemetry"
	"toolgym/tools"
)

// The streams of a seed.
const (
	weightStream = 1
	loopStream   = 2
	lastStream   = 3 // of the evaluation at the end
	checkStream  = 1 << 32
)

// Trainer is a run between two updates. It belongs to one goroutine; trainers
// share nothing, so that any number can run at once.
type Trainer struct {
	config     Config
	progress   progress
	curriculum curriculum
	player     *player
	pcg        *rand.PCG
	rng        *rand.Rand // draws from pcg

	learner   *policy.Learner
	batch     *policy.Batch
	evaluator *evaluator
	levels    []int // of each episode, as an index of the config's
	seeds     []uint64
	solved    []bool
	failed    error
}

// New returns a trainer at its first update. A configuration that is invalid,
// or does not fit the environment, is an [*tools.Error].
func New(spec tools.Spec, c Config) (*Trainer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t, err := prepare(spec, c)
	if err != nil {
		return nil, err
	}
	return t, t.begin(c.Seed)
}

// prepare returns a trainer without a learner.
func prepare(spec tools.Spec, c Config) (*Trainer, error) {
	if spec.Name != c.Env {
		return nil, refusal.New("env", c.Env, "the environment is %s", spec.Name)
	}
	t := &Trainer{config: c, curriculum: newCurriculum(c.Curriculum), pcg: &rand.PCG{}}
	t.rng = rand.New(t.pcg)
	t.player = &player{spec: spec, env: spec.Enumerate(), config: &t.config}
	n := c.Network.Batch
	t.levels, t.seeds, t.solved = make([]int, n), make([]uint64, n), make([]bool, n)
	t.progress = newProgress(len(c.Levels))
	return t, nil
}

// Untrained is the network from which a run of a configuration begins. A run that
// starts again begins with another.
func Untrained(c Config) (*policy.Net, error) {
	return policy.NewNet(c.Network, rand.NewPCG(c.Seed, weightStream))
}

// begin draws a network, and starts the loop's random source, from a seed.
func (t *Trainer) begin(seed uint64) error {
	c := t.config
	c.Seed = seed
	net, err := Untrained(c)
	if err != nil {
		return err
	}
	learner, err := policy.NewLearner(net)
	if err != nil {
		return err
	}
	t.pcg.Seed(seed, loopStream)
	t.adopt(learner)
	return nil
}

func (t *Trainer) adopt(l *policy.Learner) {
	t.learner, t.batch, t.evaluator = l, l.NewBatch(), newEvaluator(t.player, l.Net())
}

// Config is what the run depends on.
func (t *Trainer) Config() Config { return t.config }

// Net is the network as it stands. Updates change it.
func (t *Trainer) Net() *policy.Net { return t.learner.Net() }

// Updates is the number of updates made, restarts included.
func (t *Trainer) Updates() int { return t.progress.Updates }

// update makes one update and measures it.
func (t *Trainer) update() (telemetry.Record, error) {
	if err := t.sample(); err != nil {
		return telemetry.Record{}, err
	}
	success, earned := t.success(), t.earned()
	if err := t.reward(); err != nil {
		return telemetry.Record{}, err
	}
	metrics, err := t.learner.Update(t.batch)
	if err != nil {
		return telemetry.Record{}, t.located(err)
	}
	observe(t.progress.Rates, success)
	t.progress.Updates++
	metrics.Update = t.progress.Updates
	metrics.Reward = earned
	return telemetry.Record{Metrics: metrics, Stages: t.config.Levels, Success: success, Restarts: t.progress.Restarts}, nil
}

// located counts a divergence by the updates of the whole run.
func (t *Trainer) located(err error) error {
	if d, ok := errors.AsType[*policy.DivergedError](err); ok {
		return &policy.DivergedError{Update: t.progress.Updates + 1, GradNorm: d.GradNorm}
	}
	return err
}

// sample draws tasks, lets the policy plan, and plays.
func (t *Trainer) sample() error {
	for i := 0; i < len(t.seeds); i += t.config.Group {
		level := t.curriculum.pick(t.progress.Updates-t.progress.Since, t.progress.Rates, t.rng)
		seed, err := t.player.draw(t.config.Levels[level], forTraining, t.rng, &t.batch.Prompts[i])
		if err != nil {
			return err
		}
		first := t.batch.Prompts[i]
		for j := i; j < i+t.config.Group; j++ {
			t.levels[j], t.seeds[j] = level, seed
			p := &t.batch.Prompts[j]
			p.Context, p.Stage = append(p.Context[:0], first.Context...), first.Stage
		}
	}
	if err := t.learner.Sample(t.batch, t.rng); err != nil {
		return err
	}
	t.batch.Play(t.enter, t.player.env.Act)
	t.solved[len(t.solved)-1] = t.player.env.Success()
	return t.failed
}

// enter begins episode i, after noting how the one before it ended.
func (t *Trainer) enter(i int) {
	if i > 0 {
		t.solved[i-1] = t.player.env.Success()
	}
	if err := t.player.env.Start(t.config.Rules, t.config.Levels[t.levels[i]], t.seeds[i]); err != nil {
		t.failed = err
	}
}

// success is the rate at which the plans of each level solved their tasks.
func (t *Trainer) success() []*float64 {
	solved, played := make([]float64, len(t.config.Levels)), make([]float64, len(t.config.Levels))
	for i, level := range t.levels {
		played[level]++
		if t.solved[i] {
			solved[level]++
		}
	}
	rates := make([]*float64, len(solved))
	for i := range rates {
		if played[i] > 0 {
			rate := solved[i] / played[i]
			rates[i] = &rate
		}
	}
	return rates
}

// earned is what the environment paid for a plan, in the mean.
func (t *Trainer) earned() float64 {
	sum := 0.0
	for _, row := range t.batch.Rewards {
		for _, r := range row {
			sum += r
		}
	}
	return sum / float64(len(t.batch.Rewards))
}

// reward turns what the environment paid into what the learner is told, and
// compares the plans of each group.
func (t *Trainer) reward() error {
	sums := make([]float64, len(t.batch.Rewards))
	for i, row := range t.batch.Rewards {
		length := t.batch.Lengths[i]
		for s := range row[:length] {
			row[s] -= t.config.Cost
		}
		if !t.solved[i] {
			row[length-1] += t.config.Idle * float64(len(row)-length)
		}
		for s := range row {
			row[s] /= t.config.Scale
			sums[i] += row[s]
		}
	}
	if t.config.Algorithm != GRPO {
		return nil
	}
	groups := make([]objective.Rewards, 0, len(sums)/t.config.Group)
	for i := 0; i < len(sums); i += t.config.Group {
		groups = append(groups, objective.Rewards{Values: sums[i : i+t.config.Group]})
	}
	advantages, _, err := objective.Advantages(groups, objective.NormalizeGroup)
	if err != nil {
		return err
	}
	for g, row := range advantages {
		copy(t.batch.Advantages[g*t.config.Group:], row)
	}
	return nil
}
