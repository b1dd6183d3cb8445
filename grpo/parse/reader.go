package parse

import (
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// Limits bound what one completion may cost. What lies beyond is lost: an
// attempt of tier none that says so.
type Limits struct {
	Attempts int               // attempts in one completion
	JSON     strictjson.Limits // one payload
}

// DefaultLimits are 10,000 attempts, and payloads of at most 4 MiB, 100,000
// values and depth 128.
func DefaultLimits() Limits {
	payload := strictjson.Defaults()
	payload.Size, payload.Values = 4<<20, 100_000
	return Limits{Attempts: 10_000, JSON: payload}
}

// Reader reads completions of models to which one set of tools was declared.
// It is safe for concurrent use.
type Reader struct {
	Limits Limits

	// StrictSyntax refuses to mend: attempts of tier syntax become none.
	StrictSyntax bool

	declared map[string]*declared
}

// NewReader makes a reader with the default limits.
func NewReader(set tools.Set) *Reader {
	r := &Reader{Limits: DefaultLimits(), declared: make(map[string]*declared, len(set))}
	for _, tool := range set {
		if _, twice := r.declared[tool.Name]; !twice {
			r.declared[tool.Name] = &declared{tool: tool}
		}
	}
	return r
}

// Read reads one completion. Whatever the model wrote gives a Reading; the
// error is a [*tools.Error] that says what is wrong with the input itself (an
// unknown family, a message that is no JSON object).
func (r *Reader) Read(in Input) (Reading, error) {
	if err := in.Validate(); err != nil {
		return Reading{}, err
	}
	switch {
	case in.Text != nil:
		return r.readText(*in.Text, in.Family, in.FinishReason), nil
	case in.hasMessage():
		return r.readMessage(in)
	default:
		return r.readStream(in)
	}
}

func (r *Reader) isDeclared(name string) bool {
	_, ok := r.declared[name]
	return ok
}

// readText reads what a model generated. For the structured family the text
// is a message's content.
func (r *Reader) readText(text string, family Family, finish string) Reading {
	s := scan{reader: r, text: text, family: family, cutOff: finish == "length"}
	switch family {
	case "":
		s.family = Auto
	case Structured:
		s.family, s.inContent = Auto, true
	}
	s.run()
	return s.finish()
}
