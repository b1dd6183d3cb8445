package parse

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// Limits bound what one completion may cost. What lies beyond is lost: an
// attempt of tier none that says so.
type Limits struct {
	Attempts int // attempts in one completion
	Steps    int // of checking the arguments of all its attempts; see [tools.MaxSteps]
	// Violations are reported in full until there are more than these; then of
	// each further attempt the first.
	Violations int
	JSON       strictjson.Limits // one payload
}

// DefaultLimits are 10,000 attempts, 3 million steps, 1,000 violations, and
// payloads of at most 4 MiB, 100,000 values and depth 128.
func DefaultLimits() Limits {
	payload := strictjson.Defaults()
	payload.Size, payload.Values = 4<<20, 100_000
	return Limits{Attempts: 10_000, Steps: 3 * tools.MaxSteps, Violations: 1000, JSON: payload}
}

// Reader reads completions of models to which one set of tools was declared.
// It is safe for concurrent use.
type Reader struct {
	Limits Limits

	// StrictSyntax refuses to mend: attempts of tier syntax become none.
	StrictSyntax bool

	declared map[string]*declared
	longest  int             // the length of the longest declared name
	names    func() *matcher // of the declared names, made when first needed
	scans    sync.Pool       // of *scan, to be used again
}

// NewReader makes a reader with the default limits.
func NewReader(set tools.Set) *Reader {
	r := &Reader{Limits: DefaultLimits(), declared: make(map[string]*declared, len(set))}
	for _, tool := range set {
		if _, twice := r.declared[tool.Name]; !twice {
			r.declared[tool.Name] = &declared{tool: tool}
			r.longest = max(r.longest, len(tool.Name))
		}
	}
	r.names = sync.OnceValue(func() *matcher { return newMatcher(maps.Keys(r.declared)) })
	return r
}

// Read reads one completion. Whatever the model wrote gives a Reading; the
// error is a [*tools.Error] that says what is wrong with the input itself (an
// unknown family, a message that is no JSON object).
func (r *Reader) Read(in Input) (Reading, error) {
	var reading Reading
	err := r.ReadInto(context.Background(), &reading, in)
	return reading, err
}

// ReadInto is Read for who reads very many completions, and has done with one
// before the next: the lists of calls, attempts and spans of to are overwritten,
// and so is each attempt's Value. The rest of an attempt may be kept. Reading ends
// with the context, at the latest when the arguments that are being checked have
// been; the error is the context's then, and the reading is not to be used.
func (r *Reader) ReadInto(ctx context.Context, to *Reading, in Input) (err error) {
	if err := in.Validate(); err != nil {
		return err
	}
	switch {
	case in.Text != nil:
		r.readText(ctx, to, *in.Text, in.Family, in.FinishReason)
	case in.hasMessage():
		*to, err = r.readMessage(ctx, in)
	default:
		*to, err = r.readStream(ctx, in)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("reading a completion: %w", ctx.Err())
	}
	return err
}

func (r *Reader) isDeclared(name string) bool {
	_, ok := r.declared[name]
	return ok
}

// readText reads what a model generated. For the structured family the text
// is a message's content.
func (r *Reader) readText(ctx context.Context, to *Reading, text string, family Family, finish string) {
	s, ok := r.scans.Get().(*scan)
	if !ok {
		s = new(scan)
	}
	for i := range to.Attempts {
		s.spare.Give(to.Attempts[i].Value)
	}
	s.attempts = to.Attempts[:0]
	r.prepare(s, text, family, finish)
	s.ended = ctx.Done()
	s.run()
	s.finish(ctx, to)
	s.reset()
	r.scans.Put(s)
}

// prepare makes a scan of a text.
func (r *Reader) prepare(s *scan, text string, family Family, finish string) {
	s.reader, s.text, s.family, s.cutOff = r, text, family, finish == "length"
	switch family {
	case "":
		s.family = Auto
	case Structured:
		s.family, s.inContent = Auto, true
	}
	s.end = len(trimTurnEnd(text))
	s.budget = newBudget(s.end)
}

// Input is one completion as it came: exactly one of Text, Message and Stream.
type Input struct {
	Text         *string           `json:"text,omitempty"`          // what the model generated
	Message      json.RawMessage   `json:"message,omitempty"`       // a server's body: a chat message or {"error":…}
	Stream       []json.RawMessage `json:"stream,omitempty"`        // a server's chunks
	Family       Family            `json:"family,omitempty"`        // empty means auto
	FinishReason string            `json:"finish_reason,omitempty"` // "length" means cut off; a server's own word is taken when empty
}

// Validate reports an unknown family, and anything but one completion. The
// error is a [*tools.Error].
func (in Input) Validate() error {
	given := 0
	for _, has := range []bool{in.Text != nil, in.hasMessage(), in.Stream != nil} {
		if has {
			given++
		}
	}
	if given != 1 {
		return refusal.New("", "exactly one of text, message, stream", "a completion is given as text, as a message or as a stream")
	}
	return in.Family.Validate()
}

func (in Input) hasMessage() bool { return len(in.Message) > 0 && string(in.Message) != "null" }

// Request is an Input together with the tools that were declared to the model:
// the body of POST /v1/parse.
type Request struct {
	Input
	Tools tools.Set `json:"tools,omitempty"`
}

// Read reads the request's completion; see [Reader.Read].
func (r Request) Read() (Reading, error) {
	return NewReader(r.Tools).Read(r.Input)
}
