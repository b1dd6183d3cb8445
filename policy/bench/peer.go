//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// peer is a Python process that makes updates on demand.
type peer struct {
	cmd     *exec.Cmd
	demands io.WriteCloser
	answers *bufio.Reader
}

func startPeer(python, name string) (*peer, error) {
	cmd := exec.Command(python, "-c", script, name)
	cmd.Stderr = os.Stderr
	demands, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &peer{cmd, demands, bufio.NewReader(answers)}, nil
}

// turn makes n updates.
func (p *peer) turn(n int) (time.Duration, error) {
	if _, err := fmt.Fprintln(p.demands, n); err != nil {
		return 0, fmt.Errorf("asking for updates: %w", err)
	}
	line, err := p.answers.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("waiting for updates: %w", err)
	}
	var cpu, wall float64
	if _, err := fmt.Sscan(line, &cpu, &wall); err != nil {
		return 0, fmt.Errorf("reading %q: %w", line, err)
	}
	return time.Duration(cpu / float64(n) * 1e9), nil
}

// stop ends the process; how it ends does not matter any more.
func (p *peer) stop() {
	_ = p.demands.Close()
	_ = p.cmd.Wait()
}
