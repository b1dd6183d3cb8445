//go:build amd64

package blas

import "golang.org/x/sys/cpu"

// lanes is how many values a kernel takes at once; what is left over at the
// end of a row is computed as Portable does it.
const lanes = 8

func hasKernels() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

// kernels is the arithmetic by AVX2 and FMA.
type kernels struct{}

func whole(n int) int { return n - n%lanes }

// Gemm multiplies by tiles.
func (kernels) Gemm(p Product, a, b []float32, beta float32, c []float32) {
	tA, tB, lda, ldb := p.layout()
	Implementation{}.Sgemm(tA, tB, p.M, p.N, p.K, 1, a, lda, b, ldb, beta, c, p.N)
}

// GRUCell computes eight values at once.
func (kernels) GRUCell(c GRUCell[float32]) {
	d := len(c.H)
	_, _, _ = c.In[3*d-1], c.Rec[3*d-1], c.Bias[3*d-1]
	_, _, _, _, _ = c.R[d-1], c.Z[d-1], c.Cand[d-1], c.Hidden[d-1], c.Output[d-1]
	if whole(d) > 0 {
		cell8(whole(d), d, &c.In[0], &c.Rec[0], &c.Bias[0], &c.H[0], &c.R[0], &c.Z[0], &c.Cand[0], &c.Hidden[0], &c.Output[0])
	}
	c.compute(whole(d))
}

// GRUCellGrad computes eight values at once.
func (kernels) GRUCellGrad(c GRUCellGrad[float32]) {
	d := len(c.H)
	_, _ = c.DRec[3*d-1], c.DCand[d-1]
	_, _, _, _, _ = c.DH[d-1], c.R[d-1], c.Z[d-1], c.Cand[d-1], c.Hidden[d-1]
	if whole(d) > 0 {
		cellGrad8(whole(d), d, &c.DH[0], &c.H[0], &c.R[0], &c.Z[0], &c.Cand[0], &c.Hidden[0], &c.DRec[0], &c.DCand[0])
	}
	c.compute(whole(d))
}

// Add adds eight values at once.
func (kernels) Add(dst, src []float32) {
	n := whole(len(src))
	if n > 0 {
		_ = dst[len(src)-1]
		add8(n, &dst[0], &src[0])
	}
	Portable[float32]{}.Add(dst[n:], src[n:])
}

// Exp computes eight values at once.
func (kernels) Exp(dst, src []float32) {
	n := whole(len(src))
	if n > 0 {
		_ = dst[len(src)-1]
		exp8(n, &dst[0], &src[0])
	}
	Portable[float32]{}.Exp(dst[n:], src[n:])
}

// Adam updates eight values at once.
func (kernels) Adam(a Adam[float32]) {
	size := len(a.Value)
	n := whole(size)
	if n > 0 {
		_, _, _ = a.Grad[size-1], a.Mean[size-1], a.Square[size-1]
		adam8(n, &a.Value[0], &a.Grad[0], &a.Mean[0], &a.Square[0],
			float32(a.Scale), float32(a.Beta1), float32(1-a.Beta1), float32(a.Beta2), float32(1-a.Beta2),
			float32(a.Rate), float32(a.Root), float32(a.Epsilon))
	}
	a.compute(n)
}
