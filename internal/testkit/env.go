package testkit

import (
	"context"
	"encoding/json"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"toolgym/tools"
)

// Solve plays the task of a level and a seed under the default rules with the
// environment's oracle. The test fails unless the oracle solves it.
func Solve(t testing.TB, spec tools.Spec, level string, seed uint64) tools.Trajectory {
	t.Helper()
	task, err := spec.Task("", level, seed)
	if err != nil {
		t.Fatal(err)
	}
	trajectory, err := tools.Rollout(t.Context(), spec.New(), task, spec.Oracle)
	if err != nil || !trajectory.Success {
		t.Fatalf("%s: success %t, %v", task.ID, trajectory.Success, err)
	}
	return trajectory
}

// CheckEpisodeSize fails if a live episode of the level takes more than maxBytes
// of heap after the calls. It measures the mean of 2,000 episodes.
func CheckEpisodeSize(t *testing.T, spec tools.Spec, level string, maxBytes int64, calls ...tools.Call) {
	t.Helper()
	task, err := spec.Task("", level, 1)
	if err != nil {
		t.Fatal(err)
	}
	const episodes = 2000
	envs := make([]tools.Env, episodes)
	before := heapBytes()
	for i := range envs {
		envs[i] = spec.New()
		if _, err := envs[i].Reset(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		for _, call := range calls {
			if _, err := envs[i].Step(t.Context(), call); err != nil {
				t.Fatal(err)
			}
		}
	}
	each := (heapBytes() - before) / episodes
	t.Logf("an episode takes %d bytes", each)
	if each > maxBytes {
		t.Errorf("an episode takes %d bytes; want at most %d", each, maxBytes)
	}
	runtime.KeepAlive(envs)
}

// heapBytes returns the size of the heap after a garbage collection.
func heapBytes() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// ReportAgainstPython runs a Python script, which prints how many steps per
// second it made under the same rules. The returned function reports the
// benchmark's own rate, the script's and their ratio; call it after the loop.
// Without python3 only the benchmark's own rate is reported.
func ReportAgainstPython(b *testing.B, script string) (report func()) {
	b.Helper()
	python := 0.0
	if path, err := exec.LookPath("python3"); err != nil {
		b.Log("no python3: its rate is not measured")
	} else {
		out, err := exec.CommandContext(b.Context(), path, script).Output()
		if err != nil {
			b.Fatal(err)
		}
		if python, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err != nil {
			b.Fatal(err)
		}
	}
	return func() {
		rate := float64(b.N) / b.Elapsed().Seconds()
		b.ReportMetric(rate, "steps/s")
		if python > 0 {
			b.ReportMetric(python, "python-steps/s")
			b.ReportMetric(rate/python, "times-python")
		}
	}
}

// WithGate returns spec with a gate. While the gate is closed, Spec.New blocks
// until it is opened.
func WithGate(spec tools.Spec) (gated tools.Spec, closeGate func() (open func())) {
	var gate atomic.Pointer[chan struct{}]
	build := spec.New
	spec.New = func() tools.Env {
		if opened := gate.Load(); opened != nil {
			<-*opened
		}
		return build()
	}
	return spec, func() (open func()) {
		opened := make(chan struct{})
		gate.Store(&opened)
		return func() {
			gate.Store(nil)
			close(opened)
		}
	}
}

// PanicValue is the value that the environments of [WithPanic] panic with.
const PanicValue = "a defect of the environment"

// WithPanic returns spec with environments that panic in the task of one seed:
// in Reset, or in Step if inStep is true. Tasks of other seeds are played as by
// spec.
func WithPanic(spec tools.Spec, seed uint64, inStep bool) tools.Spec {
	build := spec.New
	spec.New = func() tools.Env { return &panicking{Env: build(), seed: seed, inStep: inStep} }
	return spec
}

type panicking struct {
	tools.Env
	seed   uint64
	inStep bool
	armed  bool // the present task has the seed
}

func (p *panicking) Reset(ctx context.Context, task tools.Task) (json.RawMessage, error) {
	p.armed = task.Seed == p.seed
	if p.armed && !p.inStep {
		panic(PanicValue)
	}
	return p.Env.Reset(ctx, task)
}

func (p *panicking) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if p.armed && p.inStep {
		panic(PanicValue)
	}
	return p.Env.Step(ctx, call)
}
