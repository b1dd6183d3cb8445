package refusal

import (
	"errors"
	"fmt"

	"toolgym/tools"
)

// New is the error for a caller's mistake: where it is, what would be right
// there, and what is wrong with it.
func New(where, want, format string, args ...any) error {
	return &tools.Error{Code: tools.Invalid, Where: where, Message: fmt.Sprintf(format, args...), Want: want}
}

// Below puts a pointer in front of where a mistake is.
func Below(pointer string, err error) error {
	e, ok := errors.AsType[*tools.Error](err)
	if !ok {
		return err
	}
	moved := *e
	moved.Where = pointer + e.Where
	return &moved
}

// Move puts a pointer in place of where a mistake is.
func Move(pointer string, err error) error {
	e, ok := errors.AsType[*tools.Error](err)
	if !ok {
		return err
	}
	moved := *e
	moved.Where = pointer
	return &moved
}
