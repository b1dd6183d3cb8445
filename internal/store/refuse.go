package store

import (
	"cmp"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"toolgym/internal/atomicfile"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

func unavailable(where, message, want string) error {
	return &tools.Error{Code: tools.Unavailable, Where: where, Message: message, Want: want}
}

// explain turns what SQLite says about the file into words that tell what to
// do. Other errors stay as they are.
func (s *Store) explain(err error) error {
	if _, ok := errors.AsType[*tools.Error](err); ok {
		return refusal.Relocate(err, func(where string) string { return cmp.Or(where, s.path) })
	}
	code, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch code.Code() & 0xff { // the rest of the bits say more about the same
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return unavailable(s.path, fmt.Sprintf("another process has held the database for more than %s", patience), "that process to end, or another --data folder")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return unavailable(s.path, "the file is damaged or is no SQLite database", "a backup, or another --data folder")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return unavailable(s.path, "the database cannot be opened for writing", "a file and a folder that can be written")
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		e := &tools.Error{Code: tools.Exhausted, Where: s.path, Message: "the disk is full or fails (" + code.Error() + ")", Want: "free space; what was kept so far is safe"}
		switch code.Code() {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE:
			e.Message = "the disk is full: no space left on device (" + code.Error() + ")"
			return &full{e}
		}
		return e
	}
	return err
}

// full is the error of a write that the disk has no room for. SQLite reports the
// limit of a process for the size of files, and the lack of space for its index of the
// write-ahead log, as failed writes.
type full struct{ err *tools.Error }

func (f *full) Error() string { return f.err.Error() }
func (f *full) Unwrap() error { return f.err }

// Is makes [atomicfile.IsFull] report true.
func (*full) Is(target error) bool { return target == atomicfile.ErrFull }

// endsTransaction reports whether SQLite may have undone the whole transaction.
// What follows would be written outside of it.
func endsTransaction(err error) bool {
	code, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch code.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM:
		return true
	}
	return false
}

func isUnique(err error) bool {
	var code *sqlite.Error
	return errors.As(err, &code) && (code.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || code.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}
