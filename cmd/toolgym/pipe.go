package main

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
)

// A pipe is where results go. Who reads them may have enough before their end;
// that is not an error. Any other failure of a write is
// that of the command, also of one that does not check it.
type pipe struct {
	io.Writer
	failed atomic.Pointer[error] // of the last write that failed
}

// errEnough means that the reader of the results has closed them.
var errEnough = errors.New("the reader of the results has closed the pipe")

func (p *pipe) Write(text []byte) (int, error) {
	n, err := p.Writer.Write(text)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		err = errEnough
	}
	if err != nil {
		p.failed.Store(&err)
	}
	return n, err
}
