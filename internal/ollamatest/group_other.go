//go:build !unix

package ollamatest

import "os/exec"

// ownGroup does nothing here: the supervisor is a Unix shell, and does not
// start on this system.
func ownGroup(*exec.Cmd) {}
