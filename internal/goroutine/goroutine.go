package goroutine

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// A PanicError is a recovered panic. Its message does not contain the stack; a log
// record of it does.
type PanicError struct {
	Value any
	Stack []byte
}

var (
	_ error          = (*PanicError)(nil)
	_ slog.LogValuer = (*PanicError)(nil)
)

// Error returns the value that panic was called with.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the value where it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// LogValue returns the value and the stack.
func (p *PanicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("value", fmt.Sprint(p.Value)), slog.String("stack", string(p.Stack)))
}

// Attr returns err as the attribute "error" of a log record, with the stack
// where err is or wraps a [PanicError].
func Attr(err error) slog.Attr {
	p, ok := errors.AsType[*PanicError](err)
	if !ok {
		return slog.Any("error", err)
	}
	return slog.Group("error", slog.String("message", err.Error()), slog.String("stack", string(p.Stack)))
}

// Run calls f and returns its error, or a *[PanicError] if f panics.
func Run(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}

// Go calls f in a new goroutine that group waits for. If f panics, failed is
// called with the *[PanicError] in the same goroutine: it fails the request or run
// that f worked for, and logs the panic with its id or leaves that to its
// caller.
func Go(group *sync.WaitGroup, f func(), failed func(error)) {
	group.Go(func() {
		err := Run(func() error {
			f()
			return nil
		})
		if err != nil {
			failed(err)
		}
	})
}
