package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"toolgym/internal/goroutine"
)

// mcpStreams are the two streams of an MCP session, a message a line. They keep
// from the SDK what it ends the session over:
//
//   - A line that is not a message is answered here with a JSON-RPC error.
//   - The end of the input is reported when the requests that were read have been
//     answered. The SDK gives up what it is doing when its input ends, so that of
//     a session which is piped in, hardly anything would come out.
type mcpStreams struct {
	in   *bufio.Reader
	out  io.Writer
	both []io.Closer
	ctx  context.Context //nolint:containedctx // Read and Write have none of their own
	wait time.Duration   // for the last answers
	max  int             // bytes of a line

	ready   []byte // lines that were read and not handed on
	batches bool   // the protocol version of the session has them

	writing  sync.Mutex
	mu       sync.Mutex
	open     map[any]bool // ids of the requests without an answer
	pending  int          // requests whose answer has not been written
	answered chan struct{}
}

var _ io.ReadWriteCloser = (*mcpStreams)(nil)

func newMCPStreams(ctx context.Context, in io.ReadCloser, out io.WriteCloser, wait time.Duration, maxLine int) *mcpStreams {
	return &mcpStreams{in: bufio.NewReaderSize(in, 1<<16), out: out, both: []io.Closer{in, out}, ctx: ctx, wait: wait, max: maxLine,
		open: map[any]bool{}, answered: make(chan struct{}, 1)}
}

// Read hands lines on. The SDK calls it in a goroutine of its own.
func (s *mcpStreams) Read(b []byte) (n int, err error) {
	err = goroutine.Run(func() error {
		for len(s.ready) == 0 {
			if err := s.next(); err != nil {
				return err
			}
		}
		n = copy(b, s.ready)
		s.ready = s.ready[n:]
		return nil
	})
	return n, err
}

// next reads a line, and makes ready what the SDK is to have of it.
func (s *mcpStreams) next() error {
	line, tooLong, err := s.line()
	if len(line) == 0 && err != nil {
		s.settle()
		return err
	}
	if line = bytes.TrimSpace(line); len(line) == 0 && !tooLong {
		return nil
	}
	if tooLong {
		return s.refuse(malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: the line is longer than %d bytes", s.max))
	}
	list, batch, err := readMessages(line)
	if err == nil && batch && !s.batches {
		err = malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: the protocol version of the session has no batches")
	}
	if err == nil {
		err = s.begin(list)
	}
	if refused, ok := errors.AsType[*malformed](err); ok {
		return s.refuse(refused)
	}
	if err != nil {
		return err
	}
	s.ready = lines(list, batch)
	return nil
}

// line reads a line. Of one that is too long it keeps nothing. The error, such
// as the end of the input, may come with a last line.
func (s *mcpStreams) line() (line []byte, tooLong bool, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > s.max; tooLong {
			line = []byte{' '} // something was read
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// begin notes which requests are to be answered.
func (s *mcpStreams) begin(list []message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		if m.call() && s.open[m.id] {
			return malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: a request with this id is being answered")
		}
	}
	for _, m := range list {
		if m.call() {
			s.open[m.id] = true
			s.pending++
		}
		if m.method == "initialize" && !s.batches {
			s.batches = wantsBatches(m.params)
		}
	}
	return nil
}

// wantsBatches reports whether a client asks for a protocol version that has
// batches: 2025-06-18 removed them.
func wantsBatches(params json.RawMessage) bool {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(params, &asked) != nil { // the SDK refuses the request
		return false
	}
	return asked.Version == "2025-03-26" || asked.Version == "2024-11-05"
}

// lines writes messages down, each compact on a line of its own; the calls of a
// batch stay one. The SDK never answers a batch with a notification in it.
func lines(list []message, batch bool) []byte {
	var text, calls bytes.Buffer
	for _, m := range list {
		to := &text
		if batch && m.call() {
			to = &calls
			_ = to.WriteByte(',') // a Buffer takes all
		}
		_ = json.Compact(to, m.text) // it has been read
		if to == &text {
			_ = text.WriteByte('\n')
		}
	}
	if calls.Len() > 0 {
		_, _ = fmt.Fprintf(&text, "[%s]\n", calls.Bytes()[1:])
	}
	return text.Bytes()
}

// refuse answers in the SDK's place.
func (s *mcpStreams) refuse(m *malformed) error {
	_, err := s.write(append(m.body(), '\n'))
	return err
}

func (s *mcpStreams) write(b []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.out.Write(b)
}

// Write writes a message or a batch of them, as the SDK does in one call.
func (s *mcpStreams) Write(b []byte) (n int, err error) {
	err = goroutine.Run(func() (err error) {
		ended := s.end(b) // before: who has read the answer may use its id again
		n, err = s.write(b)
		s.written(ended)
		return err
	})
	return n, err
}

// end takes the ids of requests that are being answered, and counts them.
func (s *mcpStreams) end(text []byte) (ended int) {
	list, _, err := readMessages(text)
	if err != nil {
		return 0 // not an answer that is waited for
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		if m.method == "" && s.open[m.id] {
			delete(s.open, m.id)
			ended++
		}
	}
	return ended
}

// written counts answers off.
func (s *mcpStreams) written(ended int) {
	s.mu.Lock()
	s.pending -= ended
	s.mu.Unlock()
	select {
	case s.answered <- struct{}{}:
	default:
	}
}

// settle waits for the last answers.
func (s *mcpStreams) settle() {
	ctx, cancel := context.WithTimeout(s.ctx, s.wait)
	defer cancel()
	for s.waiting() {
		select {
		case <-s.answered:
		case <-ctx.Done():
			return
		}
	}
}

func (s *mcpStreams) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending > 0
}

// Close closes both sides.
func (s *mcpStreams) Close() error {
	for _, side := range s.both {
		if err := side.Close(); err != nil {
			return err
		}
	}
	return nil
}
