package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// A flow is the two directions of a stream, for a goroutine each. Every read and
// every write has its own time limit, so that a stream may last, and a client
// that neither sends nor reads does not. The limits are the connection's, and
// go by the clock of the machine.
type flow struct {
	ctx      huma.Context
	control  *http.ResponseController
	patience time.Duration

	reading sync.Mutex // the limit of the read, against its being set again
	stopped bool

	// These belong to the one who reads, and to the one who writes.
	unread, unwritten error
	begun             bool // something was answered
}

var _ io.ReadWriter = (*flow)(nil)

// Read reads from the client.
func (f *flow) Read(to []byte) (int, error) {
	if err := f.wait(); err != nil {
		return 0, err
	}
	n, err := f.ctx.BodyReader().Read(to)
	switch {
	case errors.Is(err, io.EOF):
		// The server watches the connection from here on, and a limit would look
		// to it as if the client had gone.
		_ = f.control.SetReadDeadline(time.Time{})
	case err != nil:
		f.unread = err
	}
	return n, err
}

// wait sets the limit of the next read.
func (f *flow) wait() error {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.stopped {
		return io.ErrClosedPipe
	}
	_ = f.control.SetReadDeadline(time.Now().Add(f.patience)) // a test's recorder has no limits
	return nil
}

// Write answers the client at once. When it cannot, nothing more is read.
func (f *flow) Write(text []byte) (int, error) {
	f.begin()
	_ = f.control.SetWriteDeadline(time.Now().Add(f.patience))
	n, err := f.ctx.BodyWriter().Write(text)
	if err == nil {
		err = f.control.Flush()
	}
	if err != nil {
		f.unwritten = err
		f.stop()
		return n, fmt.Errorf("answering: %w", err)
	}
	return n, nil
}

func (f *flow) stop() {
	f.reading.Lock()
	defer f.reading.Unlock()
	f.stopped = true
	_ = f.control.SetReadDeadline(time.Unix(1, 0))
}

// begin sends the head of the answer.
func (f *flow) begin() {
	if f.begun {
		return
	}
	f.begun = true
	f.ctx.SetHeader("Content-Type", linesType)
	f.ctx.SetStatus(http.StatusOK)
}

// breakOff keeps the answer from ending as if it were whole: its last chunk can
// not be sent any more, and the connection is closed.
func (f *flow) breakOff() { _ = f.control.SetWriteDeadline(time.Unix(1, 0)) }

// lost is why the connection failed, nil when it did not. It is asked when both
// have ended.
func (f *flow) lost() error {
	if f.unwritten != nil {
		return f.unwritten
	}
	return f.unread
}
