package policy_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"toolgym/policy"
	"toolgym/tools"
)

func TestDefaultsAreValid(t *testing.T) {
	for _, update := range updates() {
		for _, pool := range []string{policy.PoolBatch, policy.PoolOwn, policy.PoolOrdered} {
			if err := policy.Default(update, pool, vocabulary()).Validate(); err != nil {
				t.Errorf("%s, %s: %v", update, pool, err)
			}
		}
	}
}

func TestValidateNamesTheField(t *testing.T) {
	cases := map[string]struct {
		spoil func(c *policy.Config)
		where string
	}{
		"unknown pool":         {func(c *policy.Config) { c.Pool = "mean" }, "pool"},
		"no pool":              {func(c *policy.Config) { c.Pool = "" }, "pool"},
		"unknown update":       {func(c *policy.Config) { c.Update = "ppo" }, "update"},
		"zero width":           {func(c *policy.Config) { c.Hidden = 0 }, "hidden"},
		"huge width":           {func(c *policy.Config) { c.Hidden = 1 << 20 }, "hidden"},
		"no stage":             {func(c *policy.Config) { c.Stages = 0 }, "stages"},
		"negative batch":       {func(c *policy.Config) { c.Batch = -1 }, "batch"},
		"zero steps":           {func(c *policy.Config) { c.Steps = 0 }, "steps"},
		"zero context":         {func(c *policy.Config) { c.Context = 0 }, "context"},
		"negative rate":        {func(c *policy.Config) { c.LearningRate = -1 }, "learning_rate"},
		"rate NaN":             {func(c *policy.Config) { c.LearningRate = math.NaN() }, "learning_rate"},
		"infinite value":       {func(c *policy.Config) { c.ValueCoef = math.Inf(1) }, "value_coef"},
		"negative entropy":     {func(c *policy.Config) { c.EntropyCoef = -0.1 }, "entropy_coef"},
		"negative memory":      {func(c *policy.Config) { c.Memory = -1 }, "memory"},
		"memory NaN":           {func(c *policy.Config) { c.Memory = math.NaN() }, "memory"},
		"no norm":              {func(c *policy.Config) { c.MaxGradNorm = 0 }, "max_grad_norm"},
		"discount above one":   {func(c *policy.Config) { c.Discount = 1.1 }, "discount"},
		"negative lambda":      {func(c *policy.Config) { c.Lambda = -0.1 }, "lambda"},
		"negative beta":        {func(c *policy.Config) { c.GRPO.Beta = -1 }, "beta"},
		"unknown loss of grpo": {func(c *policy.Config) { c.GRPO.Type = "x" }, "type"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := policy.Default(policy.UpdateA2C, policy.PoolOrdered, vocabulary())
			c.spoil(&config)
			_, err := policy.NewNet(config, rand.NewPCG(1, 1))
			var refused *tools.Error
			if !errors.As(err, &refused) || refused.Code != tools.Invalid || refused.Where != c.where {
				t.Errorf("got %v, want an error at %s", err, c.where)
			}
		})
	}
}
