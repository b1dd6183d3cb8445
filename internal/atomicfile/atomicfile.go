package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write replaces the content of a file, or creates it with mode 0644.
func Write(path string, content []byte) error {
	return WriteFrom(path, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(content))
		return err
	})
}

// WriteFrom is like Write, with the content that fill writes.
func WriteFrom(path string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		if e, ok := errors.AsType[*os.PathError](err); ok && e.Path == f.Name() {
			e.Path = path // the name that the caller knows
		}
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(filepath.Dir(path))
}

// ErrFull is for errors that mean a full disk and are not from the system, such as
// those of a database: their Is method reports true for it.
var ErrFull = errors.New("no space left on device")

// IsFull reports whether an error means that the disk, a quota or the limit of the
// process for the size of files is exhausted.
func IsFull(err error) bool {
	for _, full := range append(fullErrors(), ErrFull) {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}

// An Appender writes to the end of a file through a buffer. If the disk is full, it
// keeps what it could not write, and [Appender.Flush] writes it later: the file has
// no gap, no part of a write that failed, and nothing twice. It is used by one
// goroutine.
type Appender struct {
	file    *os.File
	size    int64 // of the file, without what a failed write left
	pending []byte
}

// bufferSize is from when on an Appender writes without being told.
const bufferSize = 4096

// NewAppender returns an Appender that continues a file at its end. The file must
// not be opened with O_APPEND. Close closes it.
func NewAppender(file *os.File) (*Appender, error) {
	size, err := file.Seek(0, io.SeekEnd)
	return &Appender{file: file, size: size}, err
}

// Write adds to the buffer. After an error, p is in the buffer nevertheless.
func (a *Appender) Write(p []byte) (int, error) {
	a.pending = append(a.pending, p...)
	if len(a.pending) < bufferSize {
		return len(p), nil
	}
	return len(p), a.Flush()
}

// Flush writes the buffer to the file. After an error, it can be called again.
func (a *Appender) Flush() error {
	if len(a.pending) == 0 {
		return nil
	}
	if _, err := a.file.WriteAt(a.pending, a.size); err != nil {
		_ = a.file.Truncate(a.size) // the next write is to the same place in any case
		return err
	}
	a.size += int64(len(a.pending))
	a.pending = a.pending[:0]
	return nil
}

// Close flushes the buffer and closes the file, also after an error.
func (a *Appender) Close() error { return errors.Join(a.Flush(), a.file.Close()) }
