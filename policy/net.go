package policy

import (
	"math/rand/v2"

	"toolgym/policy/internal/network"
	"toolgym/policy/internal/vector"
)

// Net is a network: a configuration and its weights. Any number of actors may
// read it at once, as long as no learner changes it.
type Net struct {
	config     Config
	params     *network.Params[float32]
	arithmetic vector.Arithmetic[float32]
}

// NewNet returns a network whose weights are drawn from source by PyTorch's
// defaults: embeddings N(0, 1), all others U(−1/√d, 1/√d), with the
// configuration's memory on top. It fails with a
// [*tools.Error] if the configuration is invalid.
func NewNet(c Config, source rand.Source) (*Net, error) {
	n, err := emptyNet(c)
	if err != nil {
		return nil, err
	}
	n.params.Draw(rand.New(source))
	n.params.Remember(c.Memory)
	return n, nil
}

// emptyNet returns a network whose weights are zero.
func emptyNet(c Config) (*Net, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Net{config: c, params: network.NewParams[float32](c.dims()), arithmetic: vector.Fastest()}, nil
}

// Config returns the configuration.
func (n *Net) Config() Config { return n.config }

// Clone returns a copy with weights of its own.
func (n *Net) Clone() *Net {
	clone := &Net{config: n.config, params: network.NewParams[float32](n.config.dims()), arithmetic: n.arithmetic}
	copy(clone.params.Flat, n.params.Flat)
	return clone
}

// Size is the number of weights.
func (n *Net) Size() int { return len(n.params.Flat) }
