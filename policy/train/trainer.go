package train

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math/rand/v2"

	"toolgym/grpo/objective"
	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/telemetry"
	"toolgym/tools"
)

// The streams of random numbers of a seed.
const (
	weightStream = 1
	loopStream   = 2
	finalStream  = 3       // of the final evaluation
	checkStream  = 1 << 32 // and up, of evaluations during the run
)

// Trainer is a training run. It is used by one goroutine; trainers share nothing, so
// that any number can run at the same time.
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
	levels    []int // of each episode, an index of config.Levels
	seeds     []uint64
	solved    []bool
	failed    error
}

// New returns a trainer before its first update. A configuration that is invalid or
// for another environment is a [*tools.Error].
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

// Untrained returns the initial network of a run. A run that restarts uses another
// one.
func Untrained(c Config) (*policy.Net, error) {
	return policy.NewNet(c.Network, rand.NewPCG(c.Seed, weightStream))
}

// begin initializes the network and the loop's random source from a seed.
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
	t.setLearner(learner)
	return nil
}

func (t *Trainer) setLearner(l *policy.Learner) {
	t.learner, t.batch, t.evaluator = l, l.NewBatch(), newEvaluator(t.player, l.Net())
}

// Config returns the configuration.
func (t *Trainer) Config() Config { return t.config }

// Net returns the network, which updates change.
func (t *Trainer) Net() *policy.Net { return t.learner.Net() }

// Updates returns the number of updates made, restarts included.
func (t *Trainer) Updates() int { return t.progress.Updates }

// update makes one update and returns its telemetry.
func (t *Trainer) update() (telemetry.Record, error) {
	if err := t.sample(); err != nil {
		return telemetry.Record{}, err
	}
	success, reward := t.success(), t.meanReward()
	if err := t.shapeRewards(); err != nil {
		return telemetry.Record{}, err
	}
	metrics, err := t.learner.Update(t.batch)
	if err != nil {
		return telemetry.Record{}, t.countRestarts(err)
	}
	observe(t.progress.Rates, success)
	t.progress.Updates++
	metrics.Update = t.progress.Updates
	metrics.Reward = reward
	return telemetry.Record{Metrics: metrics, Stages: t.config.Levels, Success: success, Restarts: t.progress.Restarts}, nil
}

// countRestarts makes a divergence count the updates of the whole run.
func (t *Trainer) countRestarts(err error) error {
	if d, ok := errors.AsType[*policy.DivergedError](err); ok {
		return &policy.DivergedError{Update: t.progress.Updates + 1, GradNorm: d.GradNorm}
	}
	return err
}

// sample draws tasks, samples plans and plays them.
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
	t.batch.Play(t.startEpisode, t.player.env.Act)
	t.solved[len(t.solved)-1] = t.player.env.Success()
	return t.failed
}

// startEpisode records the success of episode i−1 and starts episode i.
func (t *Trainer) startEpisode(i int) {
	if i > 0 {
		t.solved[i-1] = t.player.env.Success()
	}
	if err := t.player.env.Start(t.config.Rules, t.config.Levels[t.levels[i]], t.seeds[i]); err != nil {
		t.failed = err
	}
}

// success returns the success rate of each level's plans, nil without plans.
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

// meanReward returns the mean return of the batch in the environment.
func (t *Trainer) meanReward() float64 {
	sum := 0.0
	for _, row := range t.batch.Rewards {
		for _, r := range row {
			sum += r
		}
	}
	return sum / float64(len(t.batch.Rewards))
}

// shapeRewards turns the environment's rewards into the learner's, and computes the
// advantages of each group.
func (t *Trainer) shapeRewards() error {
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

// player draws tasks of an environment.
type player struct {
	spec   tools.Spec
	env    tools.Enumerator
	config *Config
}

// use is the purpose of a task.
type use bool

const (
	forTraining   use = false
	forEvaluation use = true
)

// start starts a task and sets its prompt.
func (p *player) start(level string, seed uint64, prompt *policy.Prompt) error {
	if err := p.env.Start(p.config.Rules, level, seed); err != nil {
		return err
	}
	return prompt.Read(p.env, level)
}

// draw draws tasks of a level until one is allowed for the use, and sets its prompt.
func (p *player) draw(level string, u use, rng *rand.Rand, prompt *policy.Prompt) (seed uint64, err error) {
	const draws = 100_000
	for range draws {
		seed := rng.Uint64()
		if err := p.start(level, seed, prompt); err != nil {
			return 0, err
		}
		if p.allows(u, prompt) {
			return seed, nil
		}
	}
	return 0, refusal.New("hold_out", "a smaller fraction, or 0", "no task of level %s found in %d draws", level, draws)
}

func (p *player) allows(u use, prompt *policy.Prompt) bool {
	if p.config.HoldOut > 0 && p.config.HeldOut(*prompt) != (u == forEvaluation) {
		return false
	}
	return u == forEvaluation || p.config.Accidental || !p.env.HasShortcut()
}

// outcome is the result of a plan.
type outcome struct {
	reward  float64
	length  int
	success bool
}

// play plays a plan on the task that env started.
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

// HeldOut reports whether a task is left out of training and used by evaluations. It
// depends on a hash of the prompt (64-bit FNV-1a over the context's tokens and the
// stage), so that a task is held out whatever its seed.
func (c Config) HeldOut(p policy.Prompt) bool {
	h := fnv.New64a()
	var word [8]byte
	add := func(n int) {
		binary.LittleEndian.PutUint64(word[:], uint64(n))
		_, _ = h.Write(word[:]) // a hash never fails
	}
	for _, token := range p.Context {
		add(token)
	}
	add(p.Stage)
	return float64(h.Sum64()>>11)/(1<<53) < c.HoldOut
}
