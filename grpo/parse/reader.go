package parse

import (
	"context"
	"fmt"
	"maps"
	"sync"

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
