package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/internal/evaluation"
)

// progress shows how an evaluation is getting on: on a terminal a table that
// is drawn again, elsewhere a line now and then.
type progress struct {
	out     io.Writer
	now     func() time.Time
	begin   time.Time
	planned int
	before  int // trials of an earlier start
	screen  *mpb.Progress
	bar     *mpb.Bar

	lock   sync.Mutex
	trials []eval.Trial
	played int
	looked time.Time // when the summary was worked out
	line   string
}

// refresh is how often the summary is worked out again.
const refresh = time.Second

func newProgress(out io.Writer, e *evaluation.Evaluation, now func() time.Time) *progress {
	p := &progress{out: out, now: now, begin: now(), planned: e.Planned, line: "…"}
	for _, t := range e.Kept {
		if t.Failure == nil || t.Failure.Kind != grpo.FailureInfrastructure {
			p.trials = append(p.trials, t)
		}
	}
	p.before = len(p.trials)
	if p.before > 0 {
		_, _ = fmt.Fprintf(out, "%s: %d of %d trials are kept, going on\n", e.Run.Name, p.before, p.planned)
	}
	if !isTerminal(out) {
		return p
	}
	p.screen = mpb.New(mpb.WithOutput(out), mpb.WithWidth(40))
	p.bar = p.screen.AddBar(int64(p.planned),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d trials ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + p.shown() })))
	p.bar.SetCurrent(int64(p.before))
	return p
}

// add takes a trial into the figures.
func (p *progress) add(t eval.Trial) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.trials = append(p.trials, t)
	p.played++
	now, tenth := p.now(), p.bar == nil && p.tenth()
	if tenth || p.bar != nil && now.Sub(p.looked) >= refresh || len(p.trials) == p.planned {
		p.looked, p.line = now, p.sum(now)
	}
	switch {
	case p.bar != nil:
		p.bar.SetCurrent(int64(len(p.trials)))
	case tenth:
		_, _ = fmt.Fprintf(p.out, "%d/%d trials %s\n", len(p.trials), p.planned, p.line)
	}
}

// tenth reports whether the last trial finished another tenth of what was
// missing.
func (p *progress) tenth() bool {
	missing := max(1, p.planned-p.before)
	return p.played*10/missing != (p.played-1)*10/missing
}

func (p *progress) shown() string {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.line
}

// sum is the line of figures: tasks, success so far, tokens a second, time left.
func (p *progress) sum(now time.Time) string {
	s := eval.Summarize(p.trials, rand.NewPCG(1, 1))
	line := fmt.Sprintf("%d tasks", s.Tasks)
	if s.Success != nil {
		line += fmt.Sprintf(", success %.0f %% (%.0f–%.0f %%)", 100**s.Success, 100*s.Interval[0], 100*s.Interval[1])
	}
	if excluded := s.Trials - s.Scored; excluded > 0 {
		line += fmt.Sprintf(", %d not graded", excluded)
	}
	spent := now.Sub(p.begin)
	left := time.Duration(float64(spent) / float64(p.played) * float64(p.planned-len(p.trials)))
	tokens := 0
	for _, t := range p.trials[p.before:] {
		tokens += t.OutputTokens
	}
	if spent > 0 {
		line += fmt.Sprintf(", %.0f tokens/s", float64(tokens)/spent.Seconds())
	}
	return line + fmt.Sprintf(", %s left", left.Round(time.Second))
}

// end stops drawing. After Ctrl-C the terminal shows ^C, and drawing goes on
// behind it unless the cursor is put back.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	_, _ = io.WriteString(p.out, "\r")
	if !p.bar.Completed() {
		p.bar.Abort(false)
	}
	p.screen.Wait()
}

// kept is how many trials need not be played again.
func (p *progress) kept() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	n := 0
	for _, t := range p.trials {
		if t.Failure == nil || t.Failure.Kind != grpo.FailureInfrastructure {
			n++
		}
	}
	return n
}
