//go:build unix

package contest

import (
	"fmt"
	"syscall"
	"time"
)

// CPU is the processor time of this process so far, the garbage collector's
// included.
func CPU() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("reading the CPU time: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
