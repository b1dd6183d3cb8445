package network

import "toolgym/policy/internal/vector"

// Forward runs a network over a batch, one step at a time, so that each next
// token can be chosen from the logits of the step before.
type Forward[F vector.Float] struct {
	Contexts []int // (batch·width) the samples' contexts, padded by negative tokens
	Stages   []int // (batch)
	Plan     *Recurrence[F]
	Logits   []F // (steps·batch, vocabulary)
	Values   []F // (steps·batch)

	k      vector.Arithmetic[F]
	p      *Params[F]
	batch  int
	pool   Bag[F]
	stage  Bag[F]
	table  []F
	staged []F            // (batch, d)
	past   *Recurrence[F] // over contexts, for the pool Ordered
	read   []F            // its table
}

// Size is the shape of a batch: samples, steps of a plan, tokens of a context.
type Size struct{ Batch, Steps, Context int }

// NewForward returns a forward pass on p. It reads the weights when Prepare is
// called.
func NewForward[F vector.Float](k vector.Arithmetic[F], p *Params[F], s Size) *Forward[F] {
	d, v := p.Hidden, p.Vocabulary
	f := &Forward[F]{
		Contexts: make([]int, s.Batch*s.Context), Stages: make([]int, s.Batch),
		Plan:   NewRecurrence(k, s.Batch, s.Steps, d),
		Logits: make([]F, s.Steps*s.Batch*v), Values: make([]F, s.Steps*s.Batch),
		k: k, p: p, batch: s.Batch,
		pool: Bag[F]{Width: s.Context, Dim: d, Shared: p.Pool == Batch}, stage: Bag[F]{Width: 1, Dim: d},
		table: make([]F, v*3*d), staged: make([]F, s.Batch*d),
	}
	if p.Pool == Ordered {
		f.past = NewRecurrence(k, s.Batch, s.Context, d)
		f.read = make([]F, v*3*d)
	}
	return f
}

// Past returns the recurrence over the contexts, nil but for the pool Ordered.
func (f *Forward[F]) Past() *Recurrence[F] { return f.past }

// Prepare takes over the present weights.
func (f *Forward[F]) Prepare() {
	f.p.Table(f.k, f.p.RNN, f.table)
	f.Plan.Begin(f.p.RNN.WeightHH, f.p.RNN.BiasHH, f.table)
	if f.past != nil {
		f.p.Table(f.k, f.p.Ctx, f.read)
		f.past.Begin(f.p.Ctx.WeightHH, f.p.Ctx.BiasHH, f.read)
	}
}

// Start computes the first states, h₀ = tanh(pool(context) + stage), and lets
// the start token enter.
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

// runPast reads the contexts.
func (f *Forward[F]) runPast() {
	clear(f.past.State(0))
	ByStep(f.Contexts, f.batch, f.past.Tokens)
	f.past.Run()
}

// ByStep turns rows of samples (batch × width) into rows of steps.
func ByStep(rows []int, batch int, steps []int) {
	width := len(rows) / batch
	for b := range batch {
		for t := range width {
			steps[t*batch+b] = rows[b*width+t]
		}
	}
}

// tanh is computed as 1 − 2 ÷ (1 + exp(2x)), by the vector exponential.
func (f *Forward[F]) tanh(x []F) {
	scale(x, 2)
	f.k.Exp(x, x)
	for i, e := range x {
		x[i] = 1 - 2/(1+e)
	}
}

// Step lets the tokens of step t enter and returns the logits (batch ×
// vocabulary) of what follows them.
func (f *Forward[F]) Step(t int) []F {
	f.Plan.Step(t)
	v := f.p.Vocabulary
	logits := f.Logits[t*f.batch*v : (t+1)*f.batch*v]
	f.p.Pi.Apply(f.k, f.Plan.State(t+1), logits)
	return logits
}

// Value computes the values of all steps.
func (f *Forward[F]) Value() []F {
	f.p.V.Apply(f.k, f.Plan.Outputs(), f.Values)
	return f.Values
}

// Follow forces actions (steps·batch): it runs all steps with each action as
// the next step's input, and fills Logits.
func (f *Forward[F]) Follow(actions []int) {
	f.Start()
	copy(f.Plan.Tokens[f.batch:], actions)
	f.Plan.Run()
	f.p.Pi.Apply(f.k, f.Plan.Outputs(), f.Logits)
}

// Keep marks the run as fresh: a graph that shares the recurrences need not
// repeat it before the weights change.
func (f *Forward[F]) Keep() {
	f.Plan.Fresh = true
	if f.past != nil {
		f.past.Fresh = true
	}
}
