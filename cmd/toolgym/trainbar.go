package main

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"toolgym/policy/telemetry"
)

// bar shows how far a training is, on a terminal; elsewhere it is nil, and shows
// nothing.
type bar struct {
	out      io.Writer
	progress *mpb.Progress
	bar      *mpb.Bar
	reward   atomic.Value // the text beside the bar, which mpb reads from its own goroutine
}

// newBar shows a bar on a terminal.
func newBar(w io.Writer, total, done int) *bar {
	if !isTerminal(w) {
		return nil
	}
	b := &bar{out: w, progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40))}
	b.reward.Store("")
	b.bar = b.progress.AddBar(int64(total),
		mpb.PrependDecorators(decor.CountersNoUnit("update %d / %d ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { text, _ := b.reward.Load().(string); return text })))
	b.bar.SetCurrent(int64(done))
	return b
}

func (b *bar) step(r telemetry.Record) {
	if b == nil {
		return
	}
	b.reward.Store(fmt.Sprintf(" reward %.2f", r.Reward))
	b.bar.SetCurrent(int64(r.Update))
}

// hidden reports whether the bar is not shown.
func (b *bar) hidden() bool { return b == nil }

// stop leaves the bar as it is, at the beginning of its line whatever was typed.
func (b *bar) stop() {
	if b == nil {
		return
	}
	_, _ = io.WriteString(b.out, "\r")
	b.bar.Abort(false)
	b.progress.Wait()
}
