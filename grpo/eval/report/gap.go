package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"toolgym/internal/goroutine"
)

// A Gap is a part of a report that could not be computed, and why. The other
// parts are not affected.
type Gap struct {
	Part   string `json:"part"`
	Reason string `json:"reason"`
	Err    error  `json:"-"` // for the log: the reason of a panic is only "internal error"
}

// NewGap returns the gap for an error. The value of a panic is not shown.
func NewGap(part string, err error) Gap { return Gap{Part: part, Reason: reason(err), Err: err} }

// reason is the text of an error, without that of a panic.
func reason(err error) string {
	if _, ok := errors.AsType[*goroutine.PanicError](err); ok {
		return "internal error"
	}
	return err.Error()
}

// compute computes one part; if that panics, the part is a [Gap].
func (r *Report) compute(part string, f func()) {
	err := goroutine.Run(func() error {
		f()
		return nil
	})
	if err != nil {
		r.NotComputed = append(r.NotComputed, NewGap(part, err))
	}
}

// notes are the gaps and what the baselines left out, in sentences.
func (r Report) notes() []string {
	var list []string
	for _, gap := range r.NotComputed {
		list = append(list, fmt.Sprintf("Could not compute %s: %s.", gap.Part, gap.Reason))
	}
	for _, b := range r.Baselines {
		if note := b.Note(); note != "" {
			list = append(list, note)
		}
	}
	return list
}

// Note says what the baseline did not play and why; it is empty where the
// baseline played all tasks.
func (b Reference) Note() string {
	if len(b.LeftOut) == 0 {
		return ""
	}
	return fmt.Sprintf("The baseline %q left out %s: %s.", b.Name, some(b.LeftOut), b.Reason)
}

func (r Report) gaps() section {
	var lines []string
	for _, gap := range r.NotComputed {
		lines = append(lines, fmt.Sprintf("%s: %s", gap.Part, gap.Reason))
	}
	return section{title: "What could not be computed", lines: lines}
}

// guarded makes a section; if that panics, the section says so.
func guarded(title string, compute func() section) (made section) {
	err := goroutine.Run(func() error {
		made = compute()
		return nil
	})
	if err != nil {
		return section{title: title, lines: []string{"This section could not be computed: " + reason(err)}}
	}
	return made
}

// draw draws a section's figure; where that fails the section says so in a
// line.
func (s *section) draw() (drawn figure) {
	err := goroutine.Run(func() (err error) {
		drawn, err = s.figure()
		return err
	})
	if err != nil {
		s.lines = append(s.lines, "The figure could not be drawn: "+reason(err))
		return figure{}
	}
	return drawn
}

// fields is the report as JSON, field by field: a field that cannot be encoded,
// such as a mean that is infinite, is null and listed in not_computed.
func (r Report) fields() []byte {
	var b bytes.Buffer
	b.WriteString("{")
	value := reflect.ValueOf(&r).Elem()
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		text, err := encode(value.Field(i).Interface())
		if err != nil {
			r.NotComputed = append(r.NotComputed, NewGap(name, err))
			text = []byte("null")
		}
		if b.Len() > 1 {
			b.WriteString(",")
		}
		_, _ = fmt.Fprintf(&b, "%q:%s", name, text) // a buffer takes everything
	}
	b.WriteString("}")
	return b.Bytes()
}

// encode encodes a value without escaping for HTML; a panic is an error.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := goroutine.Run(func() error { return encoder.Encode(v) })
	return bytes.TrimSpace(b.Bytes()), err
}
