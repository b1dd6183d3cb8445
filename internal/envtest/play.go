package envtest

import (
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"toolgym/tools"
)

// Solved is the task of a level and a seed under the default rules, played by the
// environment's oracle.
func Solved(t testing.TB, spec tools.Spec, level string, seed uint64) tools.Trajectory {
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

// Small wants a live episode of a level to keep at most so many bytes, after the
// calls.
func Small(t *testing.T, spec tools.Spec, level string, most int64, calls ...tools.Call) {
	t.Helper()
	task, err := spec.Task("", level, 1)
	if err != nil {
		t.Fatal(err)
	}
	const episodes = 2000
	envs := make([]tools.Env, episodes)
	before := heap()
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
	each := (heap() - before) / episodes
	t.Logf("an episode keeps %d bytes", each)
	if each > most {
		t.Errorf("an episode keeps %d bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(envs)
}

// heap is how many bytes are in use.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Beside reports how many steps a second a benchmark made, and how many the same
// rules in plain Python: script prints them. It runs the script first, and
// reports when what it returns is called.
func Beside(b *testing.B, script string) (report func()) {
	b.Helper()
	peer := 0.0
	if path, err := exec.LookPath("python3"); err != nil {
		b.Log("no python3: the peer is not timed")
	} else {
		out, err := exec.CommandContext(b.Context(), path, script).Output()
		if err != nil {
			b.Fatal(err)
		}
		if peer, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err != nil {
			b.Fatal(err)
		}
	}
	return func() {
		rate := float64(b.N) / b.Elapsed().Seconds()
		b.ReportMetric(rate, "steps/s")
		if peer > 0 {
			b.ReportMetric(peer, "python-steps/s")
			b.ReportMetric(rate/peer, "times-python")
		}
	}
}

// Gated is an environment behind a gate. While that is shut nobody can make one:
// who tries waits until it is opened.
func Gated(spec tools.Spec) (gated tools.Spec, shut func() (open func())) {
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
