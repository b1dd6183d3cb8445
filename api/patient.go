package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// patient is a pair of streams whose reading side does not end before the
// requests that were read have been answered. The SDK gives up what it is doing
// when its input ends, so that of a session which is piped in, hardly anything
// would come out.
type patient struct {
	in   io.ReadCloser
	out  io.WriteCloser
	ctx  context.Context //nolint:containedctx // Read and Write have none of their own
	most time.Duration   // how long an answer is waited for

	mu       sync.Mutex
	begun    []byte // of a line that is being read
	open     int    // requests without an answer
	answered chan struct{}
}

func newPatient(ctx context.Context, in io.ReadCloser, out io.WriteCloser, most time.Duration) *patient {
	return &patient{in: in, out: out, ctx: ctx, most: most, answered: make(chan struct{}, 1)}
}

// message is what tells a request from an answer and a notification.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	p.note(b[:n])
	if err != nil && n == 0 {
		p.wait()
	}
	if n > 0 {
		return n, nil // the end is reported by the next call
	}
	return 0, err
}

// note counts the requests among the lines.
func (p *patient) note(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = append(p.begun, text...)
	for {
		line, rest, whole := bytes.Cut(p.begun, []byte("\n"))
		if !whole {
			return
		}
		var m message
		if json.Unmarshal(line, &m) == nil && m.Method != "" && m.ID != nil {
			p.open++
		}
		p.begun = rest
	}
}

// Write passes one message on, as the SDK writes them.
func (p *patient) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	var m message
	if json.Unmarshal(b, &m) == nil && m.Method == "" && m.ID != nil {
		p.mu.Lock()
		p.open--
		p.mu.Unlock()
		select {
		case p.answered <- struct{}{}:
		default:
		}
	}
	return n, err
}

func (p *patient) wait() {
	ctx, cancel := context.WithTimeout(p.ctx, p.most)
	defer cancel()
	for p.waiting() {
		select {
		case <-p.answered:
		case <-ctx.Done():
			return
		}
	}
}

func (p *patient) waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open > 0
}

// Close closes both sides.
func (p *patient) Close() error {
	if err := p.in.Close(); err != nil {
		return err
	}
	return p.out.Close()
}
