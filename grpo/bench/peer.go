//go:build unix

package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

//go:embed peer.py
var script string

// peer is a Python process that scores on demand.
type peer struct {
	cmd     *exec.Cmd
	demands io.WriteCloser
	answers *bufio.Reader
	texts   []byte // the demand
}

func startPeer(python string, w *work) (*peer, error) {
	texts, err := json.Marshal(w.texts)
	if err != nil {
		return nil, fmt.Errorf("encoding the texts: %w", err)
	}
	cmd := exec.Command(python, "-c", script, string(w.tools), expectedCalls)
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
	return &peer{cmd, demands, bufio.NewReader(answers), append(texts, '\n')}, nil
}

// turn scores all texts once.
func (p *peer) turn() (took time.Duration, rewards float64, err error) {
	if _, err := p.demands.Write(p.texts); err != nil {
		return 0, 0, fmt.Errorf("asking for rewards: %w", err)
	}
	line, err := p.answers.ReadString('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("waiting for rewards: %w", err)
	}
	var cpu float64
	if _, err := fmt.Sscan(line, &cpu, &rewards); err != nil {
		return 0, 0, fmt.Errorf("reading %q: %w", line, err)
	}
	return time.Duration(cpu * 1e9), rewards, nil
}

// stop ends the process; how it ends does not matter any more.
func (p *peer) stop() {
	_ = p.demands.Close()
	_ = p.cmd.Wait()
}
