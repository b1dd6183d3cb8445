package nn

import "toolgym/policy/internal/blas"

// Forward runs a network over a batch, one step at a time.
type Forward[F blas.Float] struct {
	Contexts []int // (batch·context) padded by negative tokens
	Stages   []int // (batch)
	Plan     *Recurrence[F]
	Logits   []F // (steps·batch, vocabulary)
	Values   []F // (steps·batch)

	k      blas.Arithmetic[F]
	p      *Params[F]
	batch  int
	pool   EmbeddingBag[F]
	stage  EmbeddingBag[F]
	table  []F
	staged []F            // (batch, d)
	past   *Recurrence[F] // over contexts, for PoolOrdered
	read   []F            // the table of past
}

// Size is the shape of a batch: samples, steps of a plan, tokens of a context.
type Size struct{ Batch, Steps, Context int }

// NewForward returns a forward pass of p. [Forward.Prepare] reads the weights.
func NewForward[F blas.Float](k blas.Arithmetic[F], p *Params[F], s Size) *Forward[F] {
	d, v := p.Hidden, p.Vocabulary
	f := &Forward[F]{
		Contexts: make([]int, s.Batch*s.Context), Stages: make([]int, s.Batch),
		Plan:   NewRecurrence(k, s.Batch, s.Steps, d),
		Logits: make([]F, s.Steps*s.Batch*v), Values: make([]F, s.Steps*s.Batch),
		k: k, p: p, batch: s.Batch,
		pool: EmbeddingBag[F]{Width: s.Context, Dim: d, Shared: p.Pool == PoolBatch}, stage: EmbeddingBag[F]{Width: 1, Dim: d},
		table: make([]F, v*3*d), staged: make([]F, s.Batch*d),
	}
	if p.Pool == PoolOrdered {
		f.past = NewRecurrence(k, s.Batch, s.Context, d)
		f.read = make([]F, v*3*d)
	}
	return f
}

// Past returns the recurrence over the contexts, or nil without PoolOrdered.
func (f *Forward[F]) Past() *Recurrence[F] { return f.past }

// Prepare reads the present weights.
func (f *Forward[F]) Prepare() {
	f.p.Table(f.k, f.p.RNN, f.table)
	f.Plan.Begin(f.p.RNN.WeightHH, f.p.RNN.BiasHH, f.table)
	if f.past != nil {
		f.p.Table(f.k, f.p.Ctx, f.read)
		f.past.Begin(f.p.Ctx.WeightHH, f.p.Ctx.BiasHH, f.read)
	}
}

// Start computes the initial states, h₀ = tanh(pool(context) + stage), and makes
// the start token the first input.
func (f *Forward[F]) Start() {
	h := f.Plan.State(0)
	if f.past != nil {
		f.runPast()
		copy(h, f.past.State(f.past.steps))
	} else {
		f.pool.Apply(f.k, f.p.Emb, f.Contexts, h)
	}
	f.stage.Apply(f.k, f.p.Stage, f.Stages, f.staged)
	f.k.Add(h, f.staged)
	f.tanh(h)
	for b := range f.batch {
		f.Plan.Tokens[b] = f.p.Start
	}
}

// runPast runs the GRU over the contexts.
func (f *Forward[F]) runPast() {
	clear(f.past.State(0))
	ByStep(f.Contexts, f.batch, f.past.Tokens)
	f.past.Run()
}

// ByStep reorders tokens from (batch, width) to (width, batch).
func ByStep(rows []int, batch int, steps []int) {
	width := len(rows) / batch
	for b := range batch {
		for t := range width {
			steps[t*batch+b] = rows[b*width+t]
		}
	}
}

// tanh computes 1 − 2 ÷ (1 + exp(2x)) with the vector exponential.
func (f *Forward[F]) tanh(x []F) {
	scale(x, 2)
	f.k.Exp(x, x)
	for i, e := range x {
		x[i] = 1 - 2/(1+e)
	}
}

// Step runs step t on its input tokens and returns the logits (batch,
// vocabulary) of the next tokens.
func (f *Forward[F]) Step(t int) []F {
	f.Plan.Step(t)
	v := f.p.Vocabulary
	logits := f.Logits[t*f.batch*v : (t+1)*f.batch*v]
	f.p.Pi.Apply(f.k, f.Plan.State(t+1), logits)
	return logits
}

// Value computes the values of all steps (steps·batch).
func (f *Forward[F]) Value() []F {
	f.p.V.Apply(f.k, f.Plan.Outputs(), f.Values)
	return f.Values
}

// Follow runs all steps on given actions (steps·batch), each the input of the
// next step, and sets Logits.
func (f *Forward[F]) Follow(actions []int) {
	f.Start()
	copy(f.Plan.Tokens[f.batch:], actions)
	f.Plan.Run()
	f.p.Pi.Apply(f.k, f.Plan.Outputs(), f.Logits)
}

// Keep marks the run as fresh: a graph on the same recurrences does not repeat
// it.
func (f *Forward[F]) Keep() {
	f.Plan.Fresh = true
	if f.past != nil {
		f.past.Fresh = true
	}
}
