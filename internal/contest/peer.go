package contest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// A Peer is a process that works on demand: a line in, a line of two numbers out.
type Peer struct {
	cmd     *exec.Cmd
	demands io.WriteCloser
	answers *bufio.Reader
}

// Start starts a program. What it says on stderr is passed on.
func Start(program string, arguments ...string) (*Peer, error) {
	cmd := exec.Command(program, arguments...)
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
	return &Peer{cmd, demands, bufio.NewReader(answers)}, nil
}

// Ask has the peer work. It answers with the seconds that it took and with what
// it came to.
func (p *Peer) Ask(line []byte) (took time.Duration, sum float64, err error) {
	if _, err := fmt.Fprintf(p.demands, "%s\n", line); err != nil {
		return 0, 0, fmt.Errorf("asking the peer: %w", err)
	}
	answer, err := p.answers.ReadString('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("waiting for the peer: %w", err)
	}
	var seconds float64
	if _, err := fmt.Sscan(answer, &seconds, &sum); err != nil {
		return 0, 0, fmt.Errorf("reading %q: %w", answer, err)
	}
	return time.Duration(seconds * 1e9), sum, nil
}

// Stop ends the process; how it ends does not matter any more.
func (p *Peer) Stop() {
	_ = p.demands.Close()
	_ = p.cmd.Wait()
}
