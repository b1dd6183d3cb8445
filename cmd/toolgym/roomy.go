package main

import (
	"os"
	"runtime/debug"
)

// roomy lets memory be collected more rarely than by default while there is
// little of it, and sooner when there is much: what lines leave behind is small
// and soon dead, and looking for it by default takes a sixth of the time of
// scoring. It returns what puts everything back. GOGC and GOMEMLIMIT stay as the
// user has set them.
func roomy() (back func()) {
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(128<<20)
	back = func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		back()
	}
	return back
}
