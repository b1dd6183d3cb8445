package lab

import (
	"context"
	"fmt"
	"sync"

	"toolgym/grpo"
	"toolgym/grpo/audit"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// An attackTable is what each attack earns at the most, beside an honest near
// miss on the same task.
type attackTable struct {
	Rows  []attackRow
	Tasks int // that were attacked
	Holes int // attacks that are paid too well on some task
	Fault string
}

// An attackRow is one attack on the task where it does best.
type attackRow struct {
	Name, Task string
	Reward     *float64 // nil where it is not scored at all
	Honest     float64
	Held       int // tasks on which it earns no more than the near miss
	Tasks      int
}

// Passed reports whether the attack is held off everywhere.
func (r attackRow) Passed() bool { return r.Held == r.Tasks }

// auditor attacks rubrics, one at a time, and remembers what came out.
type auditor struct {
	turn chan struct{}

	mu    sync.Mutex
	known map[[4]float64]audit.Report
}

// mostAudits bounds what an auditor remembers.
const mostAudits = 64

func newAuditor() *auditor {
	return &auditor{turn: make(chan struct{}, 1), known: map[[4]float64]audit.Report{}}
}

// attack makes the table of the settings' rubric. A rubric that cannot be
// judged is a fault of the table.
func (l *Lab) attack(ctx context.Context, s Settings) (*attackTable, error) {
	ctx, cancel := context.WithTimeout(ctx, l.config.CallTimeout)
	defer cancel()
	key := [4]float64{s.Format, s.Schema, s.Done, s.Length}
	report, err := l.auditor.run(ctx, l.turn, key, l.config.Specs, s.Rubric(l.config.Rubric))
	if refusal.Is(err, tools.Exhausted) {
		return nil, err
	}
	if err != nil {
		wrong := faults{}
		if err := wrong.note("rubric", err); err != nil {
			return nil, err
		}
		return &attackTable{Fault: wrong["rubric"]}, nil
	}
	return tabled(report), nil
}

func (a *auditor) run(ctx context.Context, turn func(context.Context) (func(), error), key [4]float64, specs tools.Specs, rubric grpo.Rubric) (audit.Report, error) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return audit.Report{}, fmt.Errorf("waiting for another audit: %w", ctx.Err())
	}
	a.mu.Lock()
	report, ok := a.known[key]
	a.mu.Unlock()
	if ok {
		return report, nil
	}
	end, err := turn(ctx)
	if err != nil {
		return report, err
	}
	defer end()
	report, err = audit.Run(ctx, specs, rubric)
	if err != nil {
		return report, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= mostAudits {
		clear(a.known)
	}
	a.known[key] = report
	return report, nil
}

// turn waits for the request's turn.
func (l *Lab) turn(ctx context.Context) (end func(), err error) {
	if l.config.Turn == nil {
		return func() {}, nil
	}
	return l.config.Turn(ctx)
}

// tabled keeps of each attack the task on which it gains most.
func tabled(report audit.Report) *attackTable {
	t := &attackTable{}
	rows, tasks := map[string]int{}, map[string]bool{}
	for _, f := range report.Findings {
		tasks[f.Task] = true
		i, ok := rows[f.Attack]
		if !ok {
			i = len(t.Rows)
			rows[f.Attack] = i
			t.Rows = append(t.Rows, attackRow{Name: f.Attack, Task: f.Task, Reward: f.Reward, Honest: f.NearMiss})
		}
		row := &t.Rows[i]
		row.Tasks++
		if f.Passed {
			row.Held++
		}
		if row.Reward != nil && (f.Reward == nil || *f.Reward-f.NearMiss > *row.Reward-row.Honest) {
			row.Task, row.Reward, row.Honest = f.Task, f.Reward, f.NearMiss
		}
	}
	t.Tasks = len(tasks)
	for _, row := range t.Rows {
		if !row.Passed() {
			t.Holes++
		}
	}
	return t
}
