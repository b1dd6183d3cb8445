//go:build unix && !darwin

package main

import "syscall"

// residentBytes is the most memory that a process had, counted in KiB.
func residentBytes(usage *syscall.Rusage) int64 { return int64(usage.Maxrss) << 10 } //nolint:unconvert // 32 bits on some platforms
