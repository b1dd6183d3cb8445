package training

import (
	"cmp"
	"fmt"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
)

// mostStages bounds the stages of a run: the tasks of each are made before the
// first update.
const mostStages = 64

// A Start is what a run is asked to be. Every field may be absent.
type Start struct {
	Env        string   `json:"env,omitempty" doc:"arithmetic when absent."`
	Stages     []string `json:"stages,omitempty" doc:"Levels of the environment; when absent 0, 1 and 2 of arithmetic, the first of another."`
	Rules      string   `json:"rules,omitempty" doc:"sound, the default, or documented."`
	Curriculum string   `json:"curriculum,omitempty" doc:"mastery, the default, or documented."`
	Algo       string   `json:"algo,omitempty" doc:"a2c, the default, or grpo."`
	Pool       string   `json:"pool,omitempty" doc:"How the context is read: ordered, the default, own or batch."`
	Seed       uint64   `json:"seed,omitempty" format:"uint64"`
	Updates    int      `json:"updates,omitempty" minimum:"1" maximum:"1000000" doc:"Budget of updates; the curriculum's when absent."`
	Beta       *float64 `json:"beta,omitempty" nullable:"false" minimum:"0" maximum:"10" doc:"Weight of the divergence from the starting policy in the loss of grpo; 0.05 when absent."`
	Epsilon    *float64 `json:"epsilon,omitempty" nullable:"false" minimum:"0" maximum:"1" doc:"The ratio of grpo is held within 1 plus or minus it; 0.2 when absent."`
}

// config turns the wishes into a trainer's configuration; what makes no sense is
// an [*tools.Error].
func (s Start) config(specs tools.Specs) (tools.Spec, train.Config, error) {
	spec, err := specs.Lookup(cmp.Or(s.Env, "arithmetic"))
	if err != nil {
		return spec, train.Config{}, err
	}
	if len(s.Stages) > mostStages {
		return spec, train.Config{}, refusal.New("stages", fmt.Sprintf("at most %d", mostStages), "got %d", len(s.Stages))
	}
	levels := s.Stages
	if len(levels) == 0 {
		levels = train.Stages(spec)
	}
	config, err := train.Default(spec, train.Choice{Levels: levels, Rules: cmp.Or(s.Rules, tools.Sound), Curriculum: cmp.Or(s.Curriculum, train.Mastery),
		Algorithm: cmp.Or(s.Algo, train.A2C), Pool: cmp.Or(s.Pool, policy.PoolOrdered), Seed: s.Seed})
	if err != nil {
		return spec, config, err
	}
	if s.Updates > 0 {
		config.Updates = s.Updates
	}
	if config.Algorithm != train.GRPO {
		return spec, config, s.plain(config)
	}
	if s.Beta != nil {
		config.Network.GRPO.Beta = *s.Beta
	}
	if s.Epsilon != nil {
		config.Network.GRPO.Epsilon = *s.Epsilon
	}
	return spec, config, config.Validate()
}

// plain refuses wishes that an algorithm without ratios could not fulfil.
func (s Start) plain(config train.Config) error {
	for name, value := range map[string]*float64{"beta": s.Beta, "epsilon": s.Epsilon} {
		if value != nil {
			return refusal.New(name, "algo grpo, or no "+name, "%s has no %s", config.Algorithm, name)
		}
	}
	return config.Validate()
}
