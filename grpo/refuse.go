package grpo

import (
	"errors"
	"fmt"

	"toolgym/tools"
)

// refuse is the error for a caller's mistake: where it is, what would be
// right there, and what is wrong with it.
func refuse(where, want, format string, args ...any) error {
	return &tools.Error{Code: tools.Invalid, Where: where, Message: fmt.Sprintf(format, args...), Want: want}
}

// at puts a pointer in front of where an error is.
func at(pointer string, err error) error {
	var e *tools.Error
	if !errors.As(err, &e) {
		return err
	}
	moved := *e
	moved.Where = pointer + e.Where
	return &moved
}

// within puts a pointer in place of where an error is, where that names a
// parameter.
func within(pointer string, err error) error {
	var e *tools.Error
	if !errors.As(err, &e) {
		return err
	}
	moved := *e
	moved.Where = pointer
	return &moved
}
