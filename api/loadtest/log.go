package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// logged is the faults in the log of a server.
type logged struct {
	Panics int    `json:"panics"`
	Errors int    `json:"errors"` // records of the level ERROR
	First  string `json:"first,omitempty"`
}

// readLog looks through a log for panics, recovered or not, and for errors.
func readLog(name string) (l logged, err error) {
	file, err := os.Open(name)
	if err != nil {
		return l, fmt.Errorf("opening the log: %w", err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewReaderSize(file, 1<<16)
	for {
		line, err := lines.ReadSlice('\n')
		panicked := bytes.Contains(line, []byte("panic")) || bytes.Contains(line, []byte("fatal error:"))
		failed := bytes.Contains(line, []byte("level=ERROR"))
		if (panicked || failed) && l.First == "" {
			l.First = fmt.Sprintf("%.2000s", line)
		}
		if panicked {
			l.Panics++
		}
		if failed {
			l.Errors++
		}
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return l, fmt.Errorf("reading the log: %w", err)
		}
	}
}
