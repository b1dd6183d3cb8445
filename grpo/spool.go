package grpo

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxSpool is what a stream keeps in memory before it goes to disk.
const maxSpool = 8 << 20

// spool holds records in order until they are wanted: in memory at first, in a
// temporary file once they are many. It is used by one goroutine.
type spool struct {
	dir    string
	limit  int // bytes in memory
	memory bytes.Buffer
	file   *os.File
	buffer *bufio.Writer
}

// add appends a record of several parts.
func (s *spool) add(parts ...[]byte) error {
	var w io.Writer = &s.memory
	if s.file == nil && s.memory.Len() > s.limit {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.file != nil {
		w = s.buffer
	}
	for _, part := range parts {
		var length [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(length[:], uint64(len(part)))
		if _, err := w.Write(length[:n]); err != nil {
			return fmt.Errorf("keeping lines: %w", err)
		}
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("keeping lines: %w", err)
		}
	}
	return nil
}

// spill starts the file; what is in memory stays there and comes first.
func (s *spool) spill() error {
	file, err := os.CreateTemp(s.dir, "toolgym-score-*")
	if err != nil {
		return fmt.Errorf("keeping lines on disk: %w", err)
	}
	s.file, s.buffer = file, bufio.NewWriterSize(file, 1<<16)
	return nil
}

// each calls f with every record, of the given number of parts, in order. The
// parts are valid during the call.
func (s *spool) each(parts int, f func(record [][]byte) error) error {
	var r *bufio.Reader
	if s.file == nil {
		r = bufio.NewReader(bytes.NewReader(s.memory.Bytes()))
	} else {
		if err := s.buffer.Flush(); err != nil {
			return fmt.Errorf("keeping lines: %w", err)
		}
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("keeping lines: %w", err)
		}
		r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(s.memory.Bytes()), s.file), 1<<16)
	}
	record := make([][]byte, parts)
	for {
		err := readRecord(r, record)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading lines back: %w", err)
		}
		if err := f(record); err != nil {
			return err
		}
	}
}

func readRecord(r *bufio.Reader, record [][]byte) error {
	for i := range record {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		if uint64(cap(record[i])) < n {
			record[i] = make([]byte, n)
		}
		record[i] = record[i][:n]
		if _, err := io.ReadFull(r, record[i]); err != nil {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// reset forgets all records.
func (s *spool) reset() error {
	s.memory.Reset()
	return s.close()
}

// close removes the file.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	name := s.file.Name()
	err := errors.Join(s.file.Close(), os.Remove(name))
	s.file, s.buffer = nil, nil
	return err
}
