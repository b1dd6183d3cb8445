package objective

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"toolgym/internal/refusal"
)

// Config configures the policy loss. Default gives the defaults;
// JSON that leaves a field out gets them too.
type Config struct {
	// Type says how the tokens' losses become one number: grpo, bnpo, dr_grpo
	// or dapo (default dapo).
	Type string `json:"type"`
	// Epsilon clips the ratio at 1−ε below (default 0.2).
	Epsilon float64 `json:"epsilon"`
	// EpsilonHigh clips the ratio at 1+ε above; nil means Epsilon. A higher
	// bound is DAPO's "clip higher" (arXiv:2503.14476).
	EpsilonHigh *float64 `json:"epsilon_high"`
	// Beta weighs the divergence from the reference policy (default 0.05).
	Beta float64 `json:"beta"`
	// KL is the estimator of that divergence in the loss: k1, k2 or k3
	// (default k3).
	KL string `json:"kl"`
	// Level is the level of the importance ratio: token, or sequence (GSPO,
	// arXiv:2507.18071; default token).
	Level string `json:"level"`
	// MaxCompletionLength in tokens is dr_grpo's constant divisor, which needs
	// it; the others do not read it.
	MaxCompletionLength int `json:"max_completion_length"`
}

// The values of Config's Type, Level and KL.
const (
	LossGRPO   = "grpo"
	LossBNPO   = "bnpo"
	LossDrGRPO = "dr_grpo"
	LossDAPO   = "dapo"

	LevelToken    = "token"
	LevelSequence = "sequence"

	KL1 = "k1"
	KL2 = "k2"
	KL3 = "k3"
)

// Default returns the published defaults.
func Default() Config {
	return Config{Type: LossDAPO, Epsilon: 0.2, Beta: 0.05, KL: KL3, Level: LevelToken}
}

// UnmarshalJSON fills in the defaults for what is left out, and refuses unknown
// fields.
func (c *Config) UnmarshalJSON(text []byte) error {
	type plain Config // without this method
	read := plain(Default())
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return refusal.New("", "type, epsilon, epsilon_high, beta, kl, level and max_completion_length", "%v", err)
	}
	*c = Config(read)
	return nil
}

// Validate says which field is wrong, and what would be right.
func (c Config) Validate() error {
	names := []struct {
		field, value string
		known        []string
	}{
		{"type", c.Type, []string{LossGRPO, LossBNPO, LossDrGRPO, LossDAPO}},
		{"level", c.Level, []string{LevelToken, LevelSequence}},
		{"kl", c.KL, []string{KL1, KL2, KL3}},
	}
	for _, n := range names {
		if !slices.Contains(n.known, n.value) {
			return refusal.New(n.field, "one of "+strings.Join(n.known, ", "), "unknown %s %q", n.field, n.value)
		}
	}
	numbers := []struct {
		field string
		value float64
	}{{"epsilon", c.Epsilon}, {"epsilon_high", c.high()}, {"beta", c.Beta}}
	for _, n := range numbers {
		if !(n.value >= 0) || math.IsInf(n.value, 0) {
			return refusal.New(n.field, "a finite number, at least 0", "%v", n.value)
		}
	}
	if c.MaxCompletionLength < 0 {
		return refusal.New("max_completion_length", "a number of tokens", "%d", c.MaxCompletionLength)
	}
	if c.Type == LossDrGRPO && c.MaxCompletionLength == 0 {
		return refusal.New("max_completion_length", "the longest completion in tokens, which dr_grpo divides by", "missing")
	}
	return nil
}

func (c Config) high() float64 {
	if c.EpsilonHigh == nil {
		return c.Epsilon
	}
	return *c.EpsilonHigh
}
