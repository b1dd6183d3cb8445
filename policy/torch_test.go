package policy

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/internal/parts"
	"toolgym/policy/internal/nn"
	"toolgym/tools/arithmetic"
)

// episodes are what PyTorch is asked about.
type episodes struct {
	Contexts [][]int `json:"contexts"`
	Stages   []int   `json:"stages"`
	Plans    [][]int `json:"plans"`
}

func drawEpisodes(c Config, rng *rand.Rand) episodes {
	var e episodes
	for range c.Batch {
		context, plan := make([]int, c.Context), make([]int, c.Steps)
		for i := range context {
			context[i] = rng.IntN(10)
		}
		context[c.Context-1] = arithmetic.Ctx
		for i := range plan {
			plan[i] = rng.IntN(arithmetic.Vocabulary)
		}
		e.Contexts, e.Plans = append(e.Contexts, context), append(e.Plans, plan)
		e.Stages = append(e.Stages, rng.IntN(c.Stages))
	}
	return e
}

// TestPyTorchOpensCheckpoints loads a checkpoint into modules that PyTorch
// builds, and compares the logits of forced plans.
func TestPyTorchOpensCheckpoints(t *testing.T) {
	python := parts.Need(t, parts.Torch)
	for _, pool := range []string{PoolBatch, PoolOwn, PoolOrdered} {
		t.Run(pool, func(t *testing.T) {
			c := Default(UpdateA2C, pool, arithmetic.NewEnumerator().Vocabulary())
			c.Batch, c.Context = 8, 6
			net, err := NewNet(c, rand.NewPCG(1, 2))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "net.safetensors")
			if err := net.Save(path, Checkpoint{}); err != nil {
				t.Fatal(err)
			}
			e := drawEpisodes(c, rand.New(rand.NewPCG(3, 4)))
			theirs, ours := torchLogits(t, python, path, pool, e), followLogits(t, net, e)
			for b := range theirs {
				for step, row := range theirs[b] {
					for token, want := range row {
						got := ours[(step*c.Batch+b)*arithmetic.Vocabulary+token]
						if !(math.Abs(float64(got)-want) <= 1e-4) {
							t.Fatalf("sample %d, step %d, token %d: %v, PyTorch has %v", b, step, token, got, want)
						}
					}
				}
			}
		})
	}
}

func torchLogits(t *testing.T, python, path, pool string, e episodes) [][][]float64 {
	t.Helper()
	input, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "open_checkpoint.py"), path, pool)
	cmd.Stdin = bytes.NewReader(input)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	var logits [][][]float64
	if err := json.Unmarshal(output, &logits); err != nil {
		t.Fatal(err)
	}
	return logits
}

func followLogits(t *testing.T, n *Net, e episodes) []float32 {
	t.Helper()
	c := n.config
	f := nn.NewForward(n.arithmetic, n.params, c.size(c.Batch))
	prompts, actions := make([]Prompt, c.Batch), make([]int, c.Batch*c.Steps)
	for b := range prompts {
		prompts[b] = Prompt{Context: e.Contexts[b], Stage: e.Stages[b]}
		for step, token := range e.Plans[b] {
			actions[step*c.Batch+b] = token
		}
	}
	if err := c.load(f, prompts); err != nil {
		t.Fatal(err)
	}
	f.Prepare()
	f.Follow(actions)
	return f.Logits
}
