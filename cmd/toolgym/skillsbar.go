package main

import (
	"io"
	"os"

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
	if !onTerminal(out) {
		return episodeBar{}
	}
	screen := mpb.New(mpb.WithOutput(out), mpb.WithWidth(40))
	return episodeBar{screen, screen.AddBar(int64(total), mpb.PrependDecorators(decor.CountersNoUnit("%d/%d episodes ")), mpb.BarRemoveOnComplete())}
}

// onTerminal reports whether somebody watches.
func onTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	stat, err := file.Stat()
	return err == nil && stat.Mode()&os.ModeCharDevice != 0
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
