package refusal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolgym/tools"
)

// New is the error for a caller's mistake: where it is, what would be right
// there, and what is wrong with it.
func New(where, want, format string, args ...any) error {
	return &tools.Error{Code: tools.Invalid, Where: where, Message: fmt.Sprintf(format, args...), Want: want}
}

// OneOf refuses a value that is none of the known ones.
func OneOf(where, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return New(where, "one of "+strings.Join(known, ", "), "unknown %s %q", where, value)
}

// Of is an error that a reader of the caller's text came upon, as the caller's
// mistake: itself where it is one already, else what it says, and what would
// be right.
func Of(err error, want string) error {
	if _, ok := errors.AsType[*tools.Error](err); ok {
		return err
	}
	return New("", want, "%v", err)
}

// Is reports whether an error is a caller's mistake with one of the codes.
func Is(err error, codes ...string) bool {
	e, ok := errors.AsType[*tools.Error](err)
	return ok && slices.Contains(codes, e.Code)
}

// Relocate tells anew where a mistake is. An error that stays where it is stays
// as it is, with what wraps it.
func Relocate(err error, to func(where string) string) error {
	e, ok := errors.AsType[*tools.Error](err)
	if !ok {
		return err
	}
	where := to(e.Where)
	if where == e.Where {
		return err
	}
	moved := *e
	moved.Where = where
	return &moved
}

// Below puts a pointer in front of where a mistake is.
func Below(pointer string, err error) error {
	return Relocate(err, func(where string) string { return pointer + where })
}

// Move puts a pointer in place of where a mistake is.
func Move(pointer string, err error) error {
	return Relocate(err, func(string) string { return pointer })
}
