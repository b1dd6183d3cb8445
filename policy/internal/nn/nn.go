package nn

import (
	"math"
	"math/rand/v2"

	"toolgym/policy/internal/blas"
)

// Dims are the sizes of a network.
type Dims struct {
	Vocabulary, Hidden, Stages int
	Start                      int    // the first input token
	Pool                       string // PoolBatch, PoolOwn or PoolOrdered
}

// The pools: how a context becomes part of the first state.
const (
	PoolBatch   = "batch"   // the mean over the batch of the samples' means
	PoolOwn     = "own"     // the sample's own mean
	PoolOrdered = "ordered" // the last state of a GRU over the context
)

// GRU holds the weights of a GRU layer with inputs and states of d values.
type GRU[F blas.Float] struct {
	WeightIH, WeightHH []F // (3d, d), gates in the order r, z, n
	BiasIH, BiasHH     []F // (3d)
}

// Linear holds the weights of y = x·Weightᵀ + Bias.
type Linear[F blas.Float] struct {
	Weight []F // (out, in)
	Bias   []F // (out)
}

// Parameter is one named tensor of a network.
type Parameter[F blas.Float] struct {
	Name   string
	Shape  []int
	Values []F  // row-major, shared with the network
	normal bool // drawn from N(0, 1), as PyTorch does for embeddings
}

// Params are the parameters of a network. All share the memory of Flat.
type Params[F blas.Float] struct {
	Dims
	Flat       []F
	Emb, Stage []F // (vocabulary, d), (stages, d)
	RNN        GRU[F]
	Pi, V      Linear[F]
	Ctx        GRU[F] // over contexts, for PoolOrdered
	list       []Parameter[F]
}

// NewParams returns parameters that are all zero.
func NewParams[F blas.Float](dims Dims) *Params[F] {
	p := &Params[F]{Dims: dims}
	d := dims.Hidden
	var fields []*[]F
	declare := func(name string, field *[]F, shape ...int) {
		p.list = append(p.list, Parameter[F]{Name: name, Shape: shape})
		fields = append(fields, field)
	}
	layer := func(name string, g *GRU[F]) {
		declare(name+".weight_ih_l0", &g.WeightIH, 3*d, d)
		declare(name+".weight_hh_l0", &g.WeightHH, 3*d, d)
		declare(name+".bias_ih_l0", &g.BiasIH, 3*d)
		declare(name+".bias_hh_l0", &g.BiasHH, 3*d)
	}
	declare("emb.weight", &p.Emb, dims.Vocabulary, d)
	declare("stage_emb.weight", &p.Stage, dims.Stages, d)
	p.list[0].normal, p.list[1].normal = true, true
	layer("rnn", &p.RNN)
	declare("pi.weight", &p.Pi.Weight, dims.Vocabulary, d)
	declare("pi.bias", &p.Pi.Bias, dims.Vocabulary)
	declare("v.weight", &p.V.Weight, 1, d)
	declare("v.bias", &p.V.Bias, 1)
	if dims.Pool == PoolOrdered {
		layer("ctx", &p.Ctx)
	}
	p.share(fields)
	return p
}

// share allocates Flat and makes the parameters parts of it.
func (p *Params[F]) share(fields []*[]F) {
	total := 0
	for _, q := range p.list {
		total += q.Size()
	}
	p.Flat = make([]F, total)
	rest := p.Flat
	for i := range p.list {
		n := p.list[i].Size()
		p.list[i].Values, rest = rest[:n:n], rest[n:]
		*fields[i] = p.list[i].Values
	}
}

// Size is the number of values.
func (q Parameter[F]) Size() int {
	n := 1
	for _, side := range q.Shape {
		n *= side
	}
	return n
}

// List returns the parameters in the order of Flat.
func (p *Params[F]) List() []Parameter[F] { return p.list }

// Draw sets all parameters by PyTorch's defaults: embeddings N(0, 1), the rest
// U(−1/√d, 1/√d).
func (p *Params[F]) Draw(rng *rand.Rand) {
	bound := 1 / math.Sqrt(float64(p.Hidden))
	for _, q := range p.list {
		for i := range q.Values {
			if q.normal {
				q.Values[i] = F(rng.NormFloat64())
			} else {
				q.Values[i] = F((2*rng.Float64() - 1) * bound)
			}
		}
	}
}

// AddUpdateGateBias adds a bias to all update gates, so that an untrained network
// keeps σ(bias) of a state per step instead of half of it.
func (p *Params[F]) AddUpdateGateBias(bias float64) {
	for _, gates := range [][]F{p.RNN.BiasIH, p.Ctx.BiasIH} {
		if gates == nil {
			continue // there is no GRU over contexts
		}
		for i := p.Hidden; i < 2*p.Hidden; i++ { // the second of the gates r, z, n
			gates[i] += F(bias)
		}
	}
}

// Table sets table (vocabulary × 3d) to the input-to-hidden product of each
// token's embedding, biases included.
func (p *Params[F]) Table(k blas.Arithmetic[F], g GRU[F], table []F) {
	Linear[F]{g.WeightIH, g.BiasIH}.Apply(k, p.Emb, table)
}
