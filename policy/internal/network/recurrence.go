package network

import "toolgym/policy/internal/vector"

// Recurrence is a GRU over a batch, with what its gradient needs of the last
// run. Its buffers are allocated once.
type Recurrence[F vector.Float] struct {
	Tokens []int // (steps·batch) what enters at each step; negative: the state stays
	H      []F   // ((steps+1)·batch, d) the states, beginning with the first
	// Fresh says that H already holds a run over Tokens with the present
	// weights, made by acting: whoever is to run them again need not.
	Fresh bool

	k                  vector.Arithmetic[F]
	batch, steps, d    int
	table, bias        []F
	across             []F // (d, 3d) the hidden-to-hidden weights, transposed once a run
	rec                []F // (batch, 3d)
	r, z, cand, hidden []F // (steps·batch, d)
	dRec, dCand, dH    []F // (steps·batch, 3d), (d), (batch, d)
}

// NewRecurrence returns a recurrence for up to the given batch and steps.
func NewRecurrence[F vector.Float](k vector.Arithmetic[F], batch, steps, d int) *Recurrence[F] {
	rows := steps * batch
	return &Recurrence[F]{
		k: k, batch: batch, steps: steps, d: d,
		Tokens: make([]int, rows),
		H:      make([]F, (rows+batch)*d),
		across: make([]F, 3*d*d),
		rec:    make([]F, batch*3*d),
		r:      make([]F, rows*d), z: make([]F, rows*d), cand: make([]F, rows*d), hidden: make([]F, rows*d),
	}
}

// Begin takes the weights of the next run and the inputs' table (vocabulary ×
// 3d, see [Params.Table]), whose memory it keeps using.
func (r *Recurrence[F]) Begin(weightHH, biasHH, table []F) {
	r.table, r.bias = table, biasHH
	for i := range 3 * r.d {
		for j := range r.d {
			r.across[j*3*r.d+i] = weightHH[i*r.d+j]
		}
	}
}

// State returns the states (batch × d) before step t.
func (r *Recurrence[F]) State(t int) []F { return r.H[t*r.batch*r.d : (t+1)*r.batch*r.d] }

// Outputs returns the states after every step, (steps·batch) × d.
func (r *Recurrence[F]) Outputs() []F { return r.H[r.batch*r.d:] }

// Step computes the states after step t from those before it and its tokens.
func (r *Recurrence[F]) Step(t int) {
	d := r.d
	if r.idle(t) {
		copy(r.State(t+1), r.State(t))
		return
	}
	r.k.Gemm(vector.Product{M: r.batch, N: 3 * d, K: d}, r.State(t), r.across, 0, r.rec)
	for b := range r.batch {
		i := t*r.batch + b
		before, after := r.row(r.H, i), r.row(r.H, i+r.batch)
		token := r.Tokens[i]
		if token < 0 {
			copy(after, before)
			continue
		}
		r.k.Cell(vector.Cell[F]{
			In: r.table[token*3*d : (token+1)*3*d], Rec: r.rec[b*3*d : (b+1)*3*d], Bias: r.bias, H: before,
			R: r.row(r.r, i), Z: r.row(r.z, i), Cand: r.row(r.cand, i), Hidden: r.row(r.hidden, i), Output: after,
		})
	}
}

func (r *Recurrence[F]) row(x []F, i int) []F { return x[i*r.d : (i+1)*r.d] }

// idle says whether nothing enters at a step, as at the end of contexts that
// are all shorter than there is room for.
func (r *Recurrence[F]) idle(t int) bool {
	for _, token := range r.Tokens[t*r.batch : (t+1)*r.batch] {
		if token >= 0 {
			return false
		}
	}
	return true
}

// Run makes all steps.
func (r *Recurrence[F]) Run() {
	for t := range r.steps {
		r.Step(t)
	}
}
