package ndjson

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the most bytes that a line may have; of a longer one only the
// beginning is kept.
const MaxLine = 64 << 20

// byteOrderMark stands before the first line of some editors' files, and is no
// part of it (RFC 8259, section 8.1).
const byteOrderMark = "\ufeff"

// A Line is one line without its end.
type Line struct {
	Number  int // from 1
	Text    []byte
	TooLong bool // Text is only a part of it
}

// next reads one line into memory of its own.
func next(r *bufio.Reader, number int) (Line, error) {
	line := Line{Number: number}
	for {
		part, err := r.ReadSlice('\n')
		if len(line.Text)+len(part) > MaxLine+1 {
			line.TooLong = true
			part = nil
		}
		if number == 1 && len(line.Text) == 0 {
			part = bytes.TrimPrefix(part, []byte(byteOrderMark))
		}
		line.Text = append(line.Text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			line.Text = bytes.TrimSuffix(line.Text, []byte("\n"))
			return line, nil
		case errors.Is(err, io.EOF) && (len(line.Text) > 0 || line.TooLong):
			return line, nil
		}
		return line, err
	}
}
