//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// repeats is how often the scoring file holds the completions, so that the start
// of a process weighs little.
const repeats = 10

// command is toolgym itself, built for the occasion, with a server of it.
type command struct {
	dir, path, file string
	completions     int
	server          *exec.Cmd
	address         string
}

// build builds toolgym. It records no revision: git refuses to tell it to a user
// who does not own the checkout.
func build(ctx context.Context) (*command, error) {
	dir, err := os.MkdirTemp("", "toolgym-bench-*")
	if err != nil {
		return nil, err
	}
	c := &command{dir: dir, path: filepath.Join(dir, "toolgym"), file: filepath.Join(dir, "lines.jsonl")}
	if out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", c.path, "toolgym/cmd/toolgym").CombinedOutput(); err != nil {
		c.remove()
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return c, nil
}

// prepare writes the scoring file and starts the server.
func (c *command) prepare(ctx context.Context, w *work) error {
	c.completions = len(w.texts)
	if err := os.WriteFile(c.file, bytes.Repeat(w.lines, repeats), 0o600); err != nil {
		return err
	}
	return c.serve(ctx)
}

func (c *command) serve(ctx context.Context) error {
	server := exec.CommandContext(ctx, c.path, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(c.dir, "data"))
	server.Env = append(os.Environ(), "GOMAXPROCS=2")
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	c.server = server
	line, err := bufio.NewReader(out).ReadString('\n')
	c.address = strings.TrimSpace(line)
	return err
}

// remove ends the server and leaves nothing behind; how it ends does not matter
// any more.
func (c *command) remove() {
	if c.server != nil {
		_ = c.server.Process.Kill()
		_ = c.server.Wait()
	}
	_ = os.RemoveAll(c.dir)
}

// oneCore scores the file by the whole command on one core, and tells its CPU
// time.
func (c *command) oneCore() (time.Duration, float64, error) {
	state, rewards, err := c.score(1)
	if err != nil {
		return 0, 0, err
	}
	return (state.UserTime() + state.SystemTime()) / repeats, rewards, nil
}

// twoCores scores the file by the whole command, and tells the wall time.
func (c *command) twoCores() (time.Duration, float64, error) {
	start := time.Now()
	_, rewards, err := c.score(2)
	return time.Since(start) / repeats, rewards, err
}

func (c *command) score(cores int) (*os.ProcessState, float64, error) {
	var last lastLine
	cmd := exec.Command(c.path, "score", "--workers", fmt.Sprint(cores), "--grouped", "--json", c.file)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
	cmd.Stdout, cmd.Stderr = &last, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, 0, err
	}
	rewards, err := last.rewards(c.completions)
	return cmd.ProcessState, rewards, err
}

// stream sends the file to the server's stream, and tells the wall time.
func (c *command) stream() (took time.Duration, rewards float64, err error) {
	file, err := os.Open(c.file)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	response, err := http.Post(c.address+"/v1/score/stream?metrics=true", "application/x-ndjson", file)
	if err != nil {
		return 0, 0, err
	}
	var last lastLine
	_, err = io.CopyBuffer(&last, response.Body, make([]byte, 1<<18))
	took = time.Since(start) / repeats
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, 0, err
	}
	rewards, err = last.rewards(c.completions)
	return took, rewards, err
}

// lastLine keeps the end of what is written to it, the metrics.
type lastLine struct{ text []byte }

func (l *lastLine) Write(text []byte) (int, error) {
	l.text = append(l.text, text...)
	if at := bytes.LastIndexByte(l.text[:max(0, len(l.text)-1)], '\n'); at >= 0 {
		l.text = l.text[:copy(l.text, l.text[at+1:])]
	}
	return len(text), nil
}

// rewards is the sum of the rewards by the metrics.
func (l *lastLine) rewards(completions int) (float64, error) {
	var last struct {
		Metrics map[string]*float64 `json:"metrics"`
	}
	if err := json.Unmarshal(l.text, &last); err != nil || last.Metrics["reward"] == nil {
		return 0, fmt.Errorf("no metrics in %.200q: %w", l.text, err)
	}
	return *last.Metrics["reward"] * float64(completions), nil
}
