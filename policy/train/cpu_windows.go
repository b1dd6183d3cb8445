package train

import (
	"syscall"
	"time"
)

// CPUTime is the processor's time that this process has spent, on all its
// threads. Where the system does not tell, it is 0.
func CPUTime() time.Duration {
	var created, exited, kernel, user syscall.Filetime
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	if err := syscall.GetProcessTimes(process, &created, &exited, &kernel, &user); err != nil {
		return 0
	}
	return span(kernel) + span(user)
}

// span reads a length of time, which Windows counts in units of 100 ns.
func span(f syscall.Filetime) time.Duration {
	return 100 * time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime))
}
