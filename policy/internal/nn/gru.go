package nn

import "toolgym/policy/internal/blas"

// Recurrence is a GRU over a batch. It keeps the values of the last run that its
// gradient needs. Its buffers are allocated once.
type Recurrence[F blas.Float] struct {
	Tokens []int // (steps·batch) inputs; negative is padding
	H      []F   // ((steps+1)·batch, d) states, from the initial one
	// Fresh means that H already holds a run over Tokens with the present
	// weights, so that the graph need not run them again.
	Fresh bool

	k                  blas.Arithmetic[F]
	batch, steps, d    int
	table, bias        []F
	transposed         []F // (d, 3d) the hidden-to-hidden weights
	rec                []F // (batch, 3d)
	r, z, cand, hidden []F // (steps·batch, d)
	dRec, dCand, dH    []F // (steps·batch, 3d), (d), (batch, d)
}

// NewRecurrence returns a recurrence for up to the given batch and steps.
func NewRecurrence[F blas.Float](k blas.Arithmetic[F], batch, steps, d int) *Recurrence[F] {
	rows := steps * batch
	return &Recurrence[F]{
		k: k, batch: batch, steps: steps, d: d,
		Tokens:     make([]int, rows),
		H:          make([]F, (rows+batch)*d),
		transposed: make([]F, 3*d*d),
		rec:        make([]F, batch*3*d),
		r:          make([]F, rows*d), z: make([]F, rows*d), cand: make([]F, rows*d), hidden: make([]F, rows*d),
	}
}

// Begin sets the weights of the next run and the table of inputs (vocabulary,
// 3d; see [Params.Table]), which it keeps a reference to.
func (r *Recurrence[F]) Begin(weightHH, biasHH, table []F) {
	r.table, r.bias = table, biasHH
	for i := range 3 * r.d {
		for j := range r.d {
			r.transposed[j*3*r.d+i] = weightHH[i*r.d+j]
		}
	}
}

// State returns the states (batch, d) before step t.
func (r *Recurrence[F]) State(t int) []F { return r.H[t*r.batch*r.d : (t+1)*r.batch*r.d] }

// Outputs returns the states after every step (steps·batch, d).
func (r *Recurrence[F]) Outputs() []F { return r.H[r.batch*r.d:] }

// Step computes the states after step t.
func (r *Recurrence[F]) Step(t int) {
	d := r.d
	if r.idle(t) {
		copy(r.State(t+1), r.State(t))
		return
	}
	r.k.Gemm(blas.Product{M: r.batch, N: 3 * d, K: d}, r.State(t), r.transposed, 0, r.rec)
	for b := range r.batch {
		i := t*r.batch + b
		before, after := r.row(r.H, i), r.row(r.H, i+r.batch)
		token := r.Tokens[i]
		if token < 0 {
			copy(after, before)
			continue
		}
		r.k.GRUCell(blas.GRUCell[F]{
			In: r.table[token*3*d : (token+1)*3*d], Rec: r.rec[b*3*d : (b+1)*3*d], Bias: r.bias, H: before,
			R: r.row(r.r, i), Z: r.row(r.z, i), Cand: r.row(r.cand, i), Hidden: r.row(r.hidden, i), Output: after,
		})
	}
}

func (r *Recurrence[F]) row(x []F, i int) []F { return x[i*r.d : (i+1)*r.d] }

// idle reports whether all tokens of a step are padding.
func (r *Recurrence[F]) idle(t int) bool {
	for _, token := range r.Tokens[t*r.batch : (t+1)*r.batch] {
		if token >= 0 {
			return false
		}
	}
	return true
}

// Run computes all steps.
func (r *Recurrence[F]) Run() {
	for t := range r.steps {
		r.Step(t)
	}
}

// RecurrenceGrad is the gradient of a recurrence.
type RecurrenceGrad[F blas.Float] struct {
	H0       []F // (batch, d)
	Table    []F // (vocabulary, 3d)
	WeightHH []F // (3d, d)
	BiasHH   []F // (3d)
}

// Grad computes the gradient of the last run. dOut is the gradient of the
// outputs of all steps or, if it has batch·d values, of the last step.
func (r *Recurrence[F]) Grad(weightHH, dOut []F, grad RecurrenceGrad[F]) {
	r.allocateGrad()
	size := r.batch * r.d
	clear(r.dH)
	clear(grad.Table)
	for t := r.steps - 1; t >= 0; t-- {
		switch {
		case len(dOut) > size:
			r.k.Add(r.dH, dOut[t*size:(t+1)*size])
		case t == r.steps-1:
			copy(r.dH, dOut)
		}
		r.stepGrad(t, weightHH, grad.Table)
	}
	copy(grad.H0, r.dH)
	r.weightGrad(grad)
}

// weightGrad sums over all steps up to the last one that is not all padding.
func (r *Recurrence[F]) weightGrad(grad RecurrenceGrad[F]) {
	steps := r.steps
	for steps > 1 && r.idle(steps-1) {
		steps--
	}
	rows := steps * r.batch
	r.k.Gemm(blas.Product{TransA: true, M: 3 * r.d, N: r.d, K: rows}, r.dRec, r.H, 0, grad.WeightHH)
	clear(grad.BiasHH)
	for i := range rows {
		r.k.Add(grad.BiasHH, r.dRec[i*3*r.d:(i+1)*3*r.d])
	}
}

// allocateGrad allocates at the first gradient: acting does not need this
// memory.
func (r *Recurrence[F]) allocateGrad() {
	if r.dRec == nil {
		r.dRec = make([]F, r.steps*r.batch*3*r.d)
		r.dCand = make([]F, r.d)
		r.dH = make([]F, r.batch*r.d)
	}
}

// stepGrad turns dH from the gradient of the states after step t into that of
// the states before it, and adds the gradients of the inputs to dTable.
func (r *Recurrence[F]) stepGrad(t int, weightHH, dTable []F) {
	d := r.d
	if r.idle(t) {
		clear(r.dRec[t*r.batch*3*d : (t+1)*r.batch*3*d])
		return
	}
	for b := range r.batch {
		i := t*r.batch + b
		dRec := r.dRec[i*3*d : (i+1)*3*d]
		token := r.Tokens[i]
		if token < 0 {
			clear(dRec)
			continue
		}
		r.k.GRUCellGrad(blas.GRUCellGrad[F]{
			DH: r.row(r.dH, b), H: r.row(r.H, i),
			R: r.row(r.r, i), Z: r.row(r.z, i), Cand: r.row(r.cand, i), Hidden: r.row(r.hidden, i),
			DRec: dRec, DCand: r.dCand,
		})
		row := dTable[token*3*d : (token+1)*3*d]
		r.k.Add(row[:2*d], dRec[:2*d])
		r.k.Add(row[2*d:], r.dCand)
	}
	step := r.dRec[t*r.batch*3*d : (t+1)*r.batch*3*d]
	r.k.Gemm(blas.Product{M: r.batch, N: d, K: 3 * d}, step, weightHH, 1, r.dH)
}
