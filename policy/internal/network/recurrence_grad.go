package network

import "toolgym/policy/internal/vector"

// RecurrenceGrad receives the gradients of a recurrence.
type RecurrenceGrad[F vector.Float] struct {
	H0       []F // (batch, d)
	Table    []F // (vocabulary, 3d)
	WeightHH []F // (3d, d)
	BiasHH   []F // (3d)
}

// Grad goes back through the last run. dOut is the gradient of the outputs:
// of all steps, or, when it has only batch × d values, of the last.
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

// weightGrad sums over all steps up to the last at which something entered.
func (r *Recurrence[F]) weightGrad(grad RecurrenceGrad[F]) {
	steps := r.steps
	for steps > 1 && r.idle(steps-1) {
		steps--
	}
	rows := steps * r.batch
	r.k.Gemm(vector.Product{TransA: true, M: 3 * r.d, N: r.d, K: rows}, r.dRec, r.H, 0, grad.WeightHH)
	clear(grad.BiasHH)
	for i := range rows {
		r.k.Add(grad.BiasHH, r.dRec[i*3*r.d:(i+1)*3*r.d])
	}
}

// allocateGrad waits for the first gradient: a network that only acts needs
// none of this memory.
func (r *Recurrence[F]) allocateGrad() {
	if r.dRec == nil {
		r.dRec = make([]F, r.steps*r.batch*3*r.d)
		r.dCand = make([]F, r.d)
		r.dH = make([]F, r.batch*r.d)
	}
}

// stepGrad takes dH, the gradient of the states after step t, to that of the
// states before it, and adds the inputs' to their rows of dTable.
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
		r.k.CellGrad(vector.CellGrad[F]{
			DH: r.row(r.dH, b), H: r.row(r.H, i),
			R: r.row(r.r, i), Z: r.row(r.z, i), Cand: r.row(r.cand, i), Hidden: r.row(r.hidden, i),
			DRec: dRec, DCand: r.dCand,
		})
		row := dTable[token*3*d : (token+1)*3*d]
		r.k.Add(row[:2*d], dRec[:2*d])
		r.k.Add(row[2*d:], r.dCand)
	}
	step := r.dRec[t*r.batch*3*d : (t+1)*r.batch*3*d]
	r.k.Gemm(vector.Product{M: r.batch, N: d, K: 3 * d}, step, weightHH, 1, r.dH)
}
