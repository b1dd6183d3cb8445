package atomicfile

import "syscall"

// syncFolder does nothing: Windows cannot flush folders.
func syncFolder(string) error { return nil }

// fullErrors are the errors of the system that mean a full disk:
// ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL and ERROR_DISK_QUOTA_EXCEEDED.
func fullErrors() []error {
	return []error{syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)}
}
