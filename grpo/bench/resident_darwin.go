package main

import "syscall"

// residentBytes is the most memory that a process had; macOS counts bytes.
func residentBytes(usage *syscall.Rusage) int64 { return usage.Maxrss }
