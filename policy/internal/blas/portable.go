package blas

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Portable is the arithmetic in plain Go over gonum's BLAS. Its zero value is
// ready to use.
type Portable[F Float] struct{}

var (
	_ Arithmetic[float32] = Portable[float32]{}
	_ Arithmetic[float64] = Portable[float64]{}
)

// Gemm calls gonum's Sgemm or Dgemm.
func (Portable[F]) Gemm(p Product, a, b []F, beta F, c []F) {
	tA, tB, lda, ldb := p.layout()
	switch c := any(c).(type) {
	case []float32:
		gonum.Implementation{}.Sgemm(tA, tB, p.M, p.N, p.K, 1, any(a).([]float32), lda, any(b).([]float32), ldb, float32(beta), c, p.N)
	case []float64:
		gonum.Implementation{}.Dgemm(tA, tB, p.M, p.N, p.K, 1, any(a).([]float64), lda, any(b).([]float64), ldb, float64(beta), c, p.N)
	}
}

// layout translates to BLAS: transpositions and the length of stored rows.
func (p Product) layout() (tA, tB blas.Transpose, lda, ldb int) {
	tA, tB, lda, ldb = blas.NoTrans, blas.NoTrans, p.K, p.N
	if p.TransA {
		tA, lda = blas.Trans, p.M
	}
	if p.TransB {
		tB, ldb = blas.Trans, p.K
	}
	return tA, tB, lda, ldb
}

// GRUCell computes each value by its formula.
func (Portable[F]) GRUCell(c GRUCell[F]) { c.compute(0) }

// compute does the values from index from on.
func (c GRUCell[F]) compute(from int) {
	d := len(c.H)
	for i := from; i < d; i++ {
		r := sigmoid(c.In[i] + c.Rec[i] + c.Bias[i])
		z := sigmoid(c.In[d+i] + c.Rec[d+i] + c.Bias[d+i])
		hidden := c.Rec[2*d+i] + c.Bias[2*d+i]
		cand := F(math.Tanh(float64(c.In[2*d+i] + r*hidden)))
		c.R[i], c.Z[i], c.Cand[i], c.Hidden[i] = r, z, cand, hidden
		c.Output[i] = (1-z)*cand + z*c.H[i]
	}
}

func sigmoid[F Float](x F) F { return F(1 / (1 + math.Exp(-float64(x)))) }

// GRUCellGrad computes each value by its formula.
func (Portable[F]) GRUCellGrad(c GRUCellGrad[F]) { c.compute(0) }

// compute does the values from index from on.
func (c GRUCellGrad[F]) compute(from int) {
	d := len(c.H)
	for i := from; i < d; i++ {
		dh, r, z, cand := c.DH[i], c.R[i], c.Z[i], c.Cand[i]
		dCand := dh * (1 - z) * (1 - cand*cand)
		c.DCand[i] = dCand
		c.DRec[i] = dCand * c.Hidden[i] * r * (1 - r)
		c.DRec[d+i] = dh * (c.H[i] - cand) * z * (1 - z)
		c.DRec[2*d+i] = dCand * r
		c.DH[i] = dh * z
	}
}

// Add adds value by value.
func (Portable[F]) Add(dst, src []F) {
	for i, x := range src {
		dst[i] += x
	}
}

// Exp rounds math.Exp.
func (Portable[F]) Exp(dst, src []F) {
	for i, x := range src {
		dst[i] = F(math.Exp(float64(x)))
	}
}

// Adam updates value by value.
func (Portable[F]) Adam(a Adam[F]) { a.compute(0) }

// compute does the values from index from on.
func (a Adam[F]) compute(from int) {
	scale, rate, root, eps := F(a.Scale), F(a.Rate), F(a.Root), F(a.Epsilon)
	keepMean, newMean, keepSquare, newSquare := F(a.Beta1), F(1-a.Beta1), F(a.Beta2), F(1-a.Beta2)
	for i := from; i < len(a.Value); i++ {
		g := a.Grad[i] * scale
		m := a.Mean[i]*keepMean + g*newMean
		v := a.Square[i]*keepSquare + g*g*newSquare
		a.Mean[i], a.Square[i] = m, v
		a.Value[i] -= rate * m / (F(math.Sqrt(float64(v)))*root + eps)
	}
}
