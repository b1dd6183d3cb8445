//go:build unix

package ollamatest

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the head of a process group of its own, so that it can
// be killed with all that it starts.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
