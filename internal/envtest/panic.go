package envtest

import (
	"context"
	"encoding/json"

	"toolgym/tools"
)

// Defect is what the environments of [Panicking] panic with.
const Defect = "a defect of the environment"

// Panicking returns spec with environments that panic in the task of one seed:
// in Reset, or in Step where inStep is true. Tasks of other seeds are played as
// by spec.
func Panicking(spec tools.Spec, seed uint64, inStep bool) tools.Spec {
	build := spec.New
	spec.New = func() tools.Env { return &panicking{Env: build(), seed: seed, inStep: inStep} }
	return spec
}

type panicking struct {
	tools.Env
	seed   uint64
	inStep bool
	broken bool // the task is the one to panic in
}

func (p *panicking) Reset(ctx context.Context, task tools.Task) (json.RawMessage, error) {
	p.broken = task.Seed == p.seed
	if p.broken && !p.inStep {
		panic(Defect)
	}
	return p.Env.Reset(ctx, task)
}

func (p *panicking) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if p.broken && p.inStep {
		panic(Defect)
	}
	return p.Env.Step(ctx, call)
}
