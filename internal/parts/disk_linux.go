package parts

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// OwnProcess runs the calling test again in a process of its own, and reports true
// when that has ended; the test returns then. In the process it reports false. What
// the test does to its process, such as [LimitFiles], harms no other test that way.
func OwnProcess(t *testing.T) bool {
	t.Helper()
	const variable = "TOOLGYM_TEST_PROCESS"
	if os.Getenv(variable) == t.Name() {
		return false
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

// LimitFiles lets no file grow beyond a size until the function that it returns is
// called: writes fail with EFBIG, which needs no root.
func LimitFiles(t *testing.T, size uint64) (restore func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	set := func(limit syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	restore = func() { set(old) }
	t.Cleanup(func() {
		restore()
		signal.Reset(syscall.SIGXFSZ)
	})
	set(syscall.Rlimit{Cur: size, Max: old.Max})
	return restore
}

// SmallDisk is the directory of a new tmpfs with the given options, such as size=64k, which
// is unmounted when the test ends. It skips the test for users other than root.
func SmallDisk(t *testing.T, options string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options)
	if errors.Is(err, syscall.EPERM) && os.Getenv("TOOLGYM_REQUIRE_PARTS") == "" {
		t.Skip("mounting a file system is not permitted to this root")
	}
	if err != nil {
		t.Fatalf("mounting a file system of %s: %v", options, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
