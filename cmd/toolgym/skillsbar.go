package main

import (
	"io"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// An episodeBar shows how many episodes are played. It is drawn on a terminal
// only.
type episodeBar struct {
	screen *mpb.Progress
	bar    *mpb.Bar
}

func newEpisodeBar(out io.Writer, total int) episodeBar {
	if !isTerminal(out) {
		return episodeBar{}
	}
	screen := mpb.New(mpb.WithOutput(out), mpb.WithWidth(40))
	return episodeBar{screen, screen.AddBar(int64(total), mpb.PrependDecorators(decor.CountersNoUnit("%d/%d episodes ")), mpb.BarRemoveOnComplete())}
}

// above is where results go while the bar is drawn: over it, where both are
// seen on one terminal, so that drawing erases no line.
func (b episodeBar) above(out io.Writer) io.Writer {
	if b.bar != nil && isTerminal(out) {
		return b.screen
	}
	return out
}

func (b episodeBar) add() {
	if b.bar != nil {
		b.bar.Increment()
	}
}

// end stops drawing, complete or not.
func (b episodeBar) end() {
	if b.bar == nil {
		return
	}
	if !b.bar.Completed() {
		b.bar.Abort(true)
	}
	b.screen.Wait()
}
