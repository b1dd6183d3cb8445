package main

import (
	"errors"
	"io"
	"syscall"
)

// A pipe is where results go. Who reads them may have enough before their end;
// that is no failure, and there is nobody to tell.
type pipe struct{ io.Writer }

// errEnough says that nobody reads the results any more.
var errEnough = errors.New("the reader of the results has closed the pipe")

func (p pipe) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		err = errEnough
	}
	return n, err
}
