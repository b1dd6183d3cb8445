package policy

import (
	"math/rand/v2"

	"toolgym/policy/internal/blas"
	"toolgym/policy/internal/nn"
)

// Net is a network: a configuration and its weights. Any number of actors may use
// it concurrently, as long as no learner changes it.
type Net struct {
	config     Config
	params     *nn.Params[float32]
	arithmetic blas.Arithmetic[float32]
}

// NewNet returns a network whose weights are drawn from source by PyTorch's
// defaults: embeddings N(0, 1), all others U(−1/√d, 1/√d), plus the configuration's
// Memory. An invalid configuration is a [*tools.Error].
func NewNet(c Config, source rand.Source) (*Net, error) {
	n, err := emptyNet(c)
	if err != nil {
		return nil, err
	}
	n.params.Draw(rand.New(source))
	n.params.AddUpdateGateBias(c.Memory)
	return n, nil
}

// emptyNet returns a network of zero weights.
func emptyNet(c Config) (*Net, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Net{config: c, params: nn.NewParams[float32](c.dims()), arithmetic: blas.Fastest()}, nil
}

// Config returns the configuration.
func (n *Net) Config() Config { return n.config }

// Clone returns a deep copy.
func (n *Net) Clone() *Net {
	clone := &Net{config: n.config, params: nn.NewParams[float32](n.config.dims()), arithmetic: n.arithmetic}
	copy(clone.params.Flat, n.params.Flat)
	return clone
}

// Size returns the number of weights.
func (n *Net) Size() int { return len(n.params.Flat) }
