package nn

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"toolgym/policy/internal/blas"
)

// tensors are parameters or gradients by name, of any shape.
type tensors map[string]any

// golden is a file that PyTorch made in float64: three updates.
type golden struct {
	Hidden, Vocab, Stages int
	Pooling               string
	LR                    float64 `json:"lr"`
	ValueCoef             float64 `json:"value_coef"`
	EntropyCoef           float64 `json:"entropy_coef"`
	MaxGradNorm           float64 `json:"max_grad_norm"`
	Params                tensors
	Updates               []goldenUpdate
}

type goldenUpdate struct {
	Stage            int
	Context, Actions [][]int
	Rewards          []float64
	Logits           [][][]float64
	LogP             [][]float64 `json:"logp"`
	Entropy, Values  [][]float64
	PolicyLoss       float64 `json:"policy_loss"`
	ValueLoss        float64 `json:"value_loss"`
	EntropyMean      float64 `json:"entropy_mean"`
	Loss             float64
	GradNorm         float64 `json:"grad_norm"`
	Grads            tensors
	ParamsAfter      tensors `json:"params_after"`
}

func readGolden(t *testing.T, pool string) golden {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "a2c_"+pool+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// flatten appends all numbers of nested lists.
func flatten(values []float64, nested any) []float64 {
	switch nested := nested.(type) {
	case float64:
		return append(values, nested)
	case []any:
		for _, x := range nested {
			values = flatten(values, x)
		}
	}
	return values
}

// set copies named tensors into parameters.
func set[F blas.Float](p *Params[F], from tensors) {
	for _, q := range p.List() {
		for i, x := range flatten(nil, from[q.Name]) {
			q.Values[i] = F(x)
		}
	}
}

// near reports numbers that differ by more than the tolerance, relative to
// 1 + |want|.
func near[F blas.Float](t *testing.T, what string, got []F, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= tolerance*(1+math.Abs(w))) {
			t.Errorf("%s[%d] is %.9g, want %.9g", what, i, got[i], w)
			return
		}
	}
}

func TestGolden(t *testing.T) {
	for _, pool := range []string{PoolBatch, PoolOwn} {
		g := readGolden(t, pool)
		t.Run(pool+"/float64", func(t *testing.T) { checkGolden[float64](t, g, pool, blas.Portable[float64]{}, 1e-6) })
		t.Run(pool+"/float32", func(t *testing.T) { checkGolden(t, g, pool, blas.Fastest(), 1e-4) })
		t.Run(pool+"/float32 without kernels", func(t *testing.T) {
			checkGolden[float32](t, g, pool, blas.Portable[float32]{}, 1e-4)
		})
	}
}

func checkGolden[F blas.Float](t *testing.T, g golden, pool string, k blas.Arithmetic[F], tolerance float64) {
	p := NewParams[F](Dims{Vocabulary: g.Vocab, Hidden: g.Hidden, Stages: g.Stages, Start: 10, Pool: pool})
	set(p, g.Params)
	adam := NewAdam[F](g.LR, len(p.Flat))
	graphs := map[int]*Graph[F]{} // contexts differ in length: one graph for each
	for i, u := range g.Updates {
		width := len(u.Context[0])
		if graphs[width] == nil {
			made, err := NewGraph(k, p, Size{Batch: len(u.Context), Steps: len(u.Actions[0]), Context: width})
			if err != nil {
				t.Fatal(err)
			}
			graphs[width] = made
		}
		t.Run(fmt.Sprint("update ", i), func(t *testing.T) {
			checkGoldenUpdate(t, g, u, graphs[width], p, adam, k, tolerance)
		})
	}
}

func checkGoldenUpdate[F blas.Float](t *testing.T, g golden, u goldenUpdate, graph *Graph[F], p *Params[F], adam *Adam[F], k blas.Arithmetic[F], tolerance float64) {
	batch := len(u.Context)
	for b := range batch {
		copy(graph.Forward.Contexts[b*len(u.Context[b]):], u.Context[b])
		graph.Forward.Stages[b] = u.Stage
		graph.Loss.Episodes.Rewards[b][len(u.Actions[0])-1] = F(u.Rewards[b])
	}
	var rows []int
	for _, row := range u.Actions {
		rows = append(rows, row...)
	}
	actions := make([]int, len(rows))
	ByStep(rows, batch, actions)
	graph.Force(p.Start, actions)
	graph.Loss.Objective = Objective{Rule: Documented, Value: g.ValueCoef, Entropy: g.EntropyCoef}
	if err := graph.Run(); err != nil {
		t.Fatal(err)
	}
	near(t, "logits", graph.Forward.Logits, byStep(u.Logits), tolerance)
	for b, row := range u.LogP {
		near(t, fmt.Sprintf("logp of sample %d", b), graph.Loss.LogProbs[b], row, tolerance)
	}
	near(t, "values", graph.Forward.Values, byStep(u.Values), tolerance)
	near(t, "entropy", graph.Loss.Entropies, byStep(u.Entropy), tolerance)
	f := graph.Loss.Statistics
	norm := Norm(graph.Grad)
	near(t, "losses", []float64{f.PolicyLoss, f.ValueLoss, f.Entropy, f.Loss, norm},
		[]float64{u.PolicyLoss, u.ValueLoss, u.EntropyMean, u.Loss, u.GradNorm}, tolerance)
	near(t, "gradient", graph.Grad, inOrder(p, u.Grads), tolerance)
	adam.Step(k, p.Flat, graph.Grad, norm, g.MaxGradNorm)
	near(t, "parameters", p.Flat, inOrder(p, u.ParamsAfter), tolerance)
}

// byStep flattens rows of samples into rows of steps.
func byStep[T float64 | []float64](samples [][]T) []float64 {
	var values []float64
	for t := range samples[0] {
		for b := range samples {
			switch x := any(samples[b][t]).(type) {
			case float64:
				values = append(values, x)
			case []float64:
				values = append(values, x...)
			}
		}
	}
	return values
}

// inOrder flattens named tensors in the order of Params.Flat.
func inOrder[F blas.Float](p *Params[F], from tensors) []float64 {
	var values []float64
	for _, q := range p.List() {
		values = flatten(values, from[q.Name])
	}
	return values
}
