package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/tools"
)

// The curricula.
const (
	Mastery   = "mastery"    // mixes the levels by how often they fail
	Published = "documented" // one level after another, as published

	publishedUpdates = 60
)

// The algorithms.
const (
	A2C  = "a2c"
	GRPO = "grpo"
)

// Choice is what a user chooses; [Default] turns it into a [Config].
type Choice struct {
	Levels     []string // of the environment, in the order of results
	Rules      string   // sound or documented
	Curriculum string   // mastery or documented
	Algorithm  string   // a2c or grpo
	Pool       string   // batch, own or ordered
	Seed       uint64
}

// Config is everything that a run depends on: two runs of one Config on one machine
// give the same bits.
type Config struct {
	Env        string   `json:"env"`
	Levels     []string `json:"levels"`
	Rules      string   `json:"rules"`
	Curriculum string   `json:"curriculum"`
	Algorithm  string   `json:"algorithm"`
	Seed       uint64   `json:"seed"`
	Updates    int      `json:"updates"` // maximum, restarts included

	// Group is the number of plans per task; 1 for a2c.
	Group int `json:"group"`
	// Scale divides the learner's rewards.
	Scale float64 `json:"scale"`
	// Cost is subtracted from the learner's reward for each token, so that the
	// shorter of two plans that solve a task is better.
	Cost float64 `json:"cost"`
	// Convergence is the number of evaluations at mastery without shorter plans
	// after which a run ends.
	Convergence int `json:"convergence"`
	// Excess is the fraction by which plans may be longer than the shortest
	// solutions at mastery; 0 means any length. A run whose plans stay too long
	// restarts, so it is meant for levels with one layout.
	Excess float64 `json:"excess"`
	// Idle is the learner's reward for each step that an unsuccessful plan did not
	// use. Where steps cost, a negative value keeps an early end from being the
	// cheapest plan.
	Idle float64 `json:"idle"`
	// Evaluate is the number of updates between greedy evaluations.
	Evaluate int `json:"evaluate"`
	// Patience is the number of updates without progress on a level after which
	// the run restarts.
	Patience int `json:"patience"`
	// Check is the number of tasks per level of an evaluation during the run, Tasks
	// that of the final one.
	Check int `json:"check"`
	Tasks int `json:"tasks"`
	// HoldOut is the fraction of tasks that training leaves out and evaluations
	// use; 0 evaluates on all.
	HoldOut float64 `json:"hold_out"`
	// Accidental includes tasks in training that a shorter plan solves.
	Accidental bool `json:"accidental"`

	Network policy.Config `json:"network"`
}

// Default returns the configuration of a choice for an environment. An invalid
// choice is a [*tools.Error].
func Default(spec tools.Spec, choice Choice) (Config, error) {
	c := Config{
		Env: spec.Name, Levels: slices.Clone(choice.Levels), Rules: choice.Rules, Curriculum: choice.Curriculum,
		Algorithm: choice.Algorithm, Seed: choice.Seed, Updates: 4000, Group: 1, Scale: 1,
		Cost: 0.02, Convergence: 2, Evaluate: 50, Patience: 400, Check: 200, Tasks: 1000, Accidental: choice.Rules == tools.Documented,
		Network: policy.Default(choice.Algorithm, choice.Pool, vocabularyOf(spec)),
	}
	if err := refusal.OneOf("curriculum", c.Curriculum, Mastery, Published); err != nil {
		return Config{}, err
	}
	if err := refusal.OneOf("algorithm", c.Algorithm, A2C, GRPO); err != nil {
		return Config{}, err
	}
	sizes, err := probe(spec, c.Rules, c.Levels)
	if err != nil {
		return Config{}, err
	}
	c.Network.Steps, c.Network.Context, c.Network.Compare = sizes.steps, sizes.context, true
	c.Network.LearningRate, c.Network.EntropyCoef = 1e-3, 0.03
	if c.Algorithm == GRPO {
		c.Group, c.Network.EntropyCoef, c.Cost = 8, 0.01, 0.01
	}
	if spec.Name != "arithmetic" {
		c.setLongPlans(sizes)
	}
	if c.Curriculum == Published {
		c.setPublished(choice.Pool)
	}
	return c, c.Validate()
}

// setPublished sets the published numbers.
func (c *Config) setPublished(pool string) {
	c.Updates, c.Evaluate, c.Check, c.Cost = publishedUpdates, 5, 128, 0
	if c.Rules == tools.Documented && c.Algorithm == A2C {
		steps := c.Network.Context
		c.Network = policy.Default(policy.UpdateDocumented, pool, c.Network.Vocabulary)
		c.Network.Context, c.Network.Compare = steps, true
	}
}

// setLongPlans sets what long plans with large rewards need. Plans may be ten tokens
// longer than the longest of the shortest solutions: an environment's own limit
// leaves more room for exploration without reward. The entropy bonus is a mean over
// steps while the policy loss is a sum, so that long plans need a larger one.
//
// Where every task has another layout, the last steps of a plan depend on what was
// read before the first: Memory keeps it from the start, and a critic of larger
// weight learns early to read it. This halved the updates to mastery.
func (c *Config) setLongPlans(s sizes) {
	const room = 10
	if s.optimal > 0 {
		c.Network.Steps = min(s.steps, s.optimal+room)
	}
	c.Updates, c.Patience, c.Idle, c.Cost, c.Convergence = 20000, 1500, -0.1, 0, 0
	if c.Algorithm == A2C {
		c.Network.EntropyCoef, c.Network.Discount = 0.3, 0.95
	}
	if s.fixed {
		c.Excess = 0.05
		return
	}
	c.Network.Memory = 2
	if c.Algorithm == A2C {
		c.Network.ValueCoef, c.Network.LearningRate = 10, 2e-3
	}
}

// Validate returns a [*tools.Error] that names an invalid field.
func (c Config) Validate() error {
	for _, f := range []struct {
		name, value string
		known       []string
	}{
		{"rules", c.Rules, []string{tools.Sound, tools.Documented}},
		{"curriculum", c.Curriculum, []string{Mastery, Published}},
		{"algorithm", c.Algorithm, []string{A2C, GRPO}},
	} {
		if err := refusal.OneOf(f.name, f.value, f.known...); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name  string
		value int
	}{
		{"updates", c.Updates}, {"group", c.Group}, {"evaluate", c.Evaluate}, {"patience", c.Patience}, {"check", c.Check}, {"tasks", c.Tasks},
	} {
		if f.value < 1 || f.value > 1<<31-1 {
			return refusal.New(f.name, "at least 1", "%d", f.value)
		}
	}
	switch {
	case !(c.HoldOut >= 0 && c.HoldOut < 1):
		return refusal.New("hold_out", "a fraction from 0 to less than 1", "%v", c.HoldOut)
	case !(c.Excess >= 0):
		return refusal.New("excess", "at least 0", "%v", c.Excess)
	case c.Convergence < 0:
		return refusal.New("convergence", "at least 0", "%d", c.Convergence)
	case !(c.Scale > 0 && c.Scale <= math.MaxFloat64):
		return refusal.New("scale", "a positive number", "%v", c.Scale)
	case !(math.Abs(c.Cost) <= math.MaxFloat64):
		return refusal.New("cost", "a number", "%v", c.Cost)
	case !(math.Abs(c.Idle) <= math.MaxFloat64):
		return refusal.New("idle", "a number", "%v", c.Idle)
	case c.Network.Batch%c.Group != 0:
		return refusal.New("group", fmt.Sprintf("a divisor of the batch of %d", c.Network.Batch), "%d", c.Group)
	case c.Algorithm == GRPO && c.Group < 2:
		return refusal.New("group", "at least 2 plans a task, to compare", "%d", c.Group)
	}
	if err := c.checkLevels(); err != nil {
		return err
	}
	return c.Network.Validate()
}

func (c Config) checkLevels() error {
	if len(c.Levels) == 0 {
		return refusal.New("stages", "at least one", "no stages")
	}
	for i, level := range c.Levels {
		if stage, err := strconv.Atoi(level); err != nil || stage < 0 || stage >= c.Network.Stages {
			return refusal.New("stages", fmt.Sprintf("0 to %d", c.Network.Stages-1), "unknown stage %q", level)
		}
		if slices.Contains(c.Levels[:i], level) {
			return refusal.New("stages", "distinct stages", "duplicate stage %s", level)
		}
	}
	if c.Curriculum == Published {
		if c.Env != "arithmetic" || !slices.Equal(c.Levels, publishedStages()) {
			return refusal.New("stages", "0,1,2 of arithmetic for the documented curriculum", "stages %s of %s", strings.Join(c.Levels, ","), c.Env)
		}
		if c.Updates > publishedUpdates {
			return refusal.New("updates", fmt.Sprintf("at most %d, the length of the documented curriculum", publishedUpdates), "%d", c.Updates)
		}
	}
	return nil
}

// vocabularyOf returns the vocabulary of an environment, empty for one without
// plans, which probe refuses.
func vocabularyOf(spec tools.Spec) tools.Vocabulary {
	if spec.Enumerate == nil {
		return tools.Vocabulary{}
	}
	return spec.Enumerate().Vocabulary()
}

// sizes are what an environment requires of a network.
type sizes struct {
	steps, context, optimal int
	fixed                   bool // all tasks of a level have the same context
}

// probe measures the longest plan and context of some tasks, and the longest of
// their shortest solutions.
func probe(spec tools.Spec, rules string, levels []string) (sizes, error) {
	if spec.Enumerate == nil {
		return sizes{}, refusal.New("env", "an environment with plans, such as arithmetic or gridworld", "%s has no plans", spec.Name)
	}
	const tasks = 64
	env, s := spec.Enumerate(), sizes{fixed: true}
	var buf []int
	for _, level := range levels {
		var first []int
		for seed := range uint64(tasks) {
			if err := env.Start(rules, level, seed); err != nil {
				return sizes{}, err
			}
			task, err := spec.Task(rules, level, seed)
			if err != nil {
				return sizes{}, err
			}
			s.optimal = max(s.optimal, task.Optimal)
			buf = append(env.Context(buf[:0]), env.Vocabulary().Start)
			s.steps, s.context = max(s.steps, env.Limit()), max(s.context, len(buf))
			if seed == 0 {
				first = slices.Clone(buf)
			}
			s.fixed = s.fixed && slices.Equal(buf, first)
		}
	}
	return s, nil
}

// Stages returns the default levels of a run: those of the published lab for
// arithmetic, the first level of other environments.
func Stages(spec tools.Spec) []string {
	if spec.Name == "arithmetic" {
		return publishedStages()
	}
	return spec.Levels[:1]
}

func publishedStages() []string { return []string{"0", "1", "2"} }
