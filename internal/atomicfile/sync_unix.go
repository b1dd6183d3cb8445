//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder makes a rename in the folder durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// fullErrors are the errors of the system that mean a full disk. EFBIG is that of
// the limit of a process (RLIMIT_FSIZE).
func fullErrors() []error { return []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} }
