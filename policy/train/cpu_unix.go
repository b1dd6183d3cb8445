//go:build unix

package train

import (
	"syscall"
	"time"
)

// CPUTime is the processor's time that this process has spent, on all its
// threads. Where the system does not tell, it is 0.
func CPUTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
