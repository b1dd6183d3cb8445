//go:build !unix

package atomicfile

// syncFolder does nothing: Windows cannot flush folders.
func syncFolder(string) error { return nil }
