package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"toolgym/internal/goroutine"
)

// A process is a server on a free port of the loopback, which prints its address.
type process struct {
	command *exec.Cmd
	address string
	ended   chan struct{} // closed when the process has ended
}

// build makes the command toolgym, for a plan that names none. It records no
// revision: git refuses to tell it to a user who does not own the checkout.
func build(ctx context.Context, folder string) (string, error) {
	binary := filepath.Join(folder, "toolgym")
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", binary, "toolgym/cmd/toolgym")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("building toolgym: %w", err)
	}
	return binary, nil
}

// start runs a program and waits until it has printed its address. Its log goes
// into a file.
func start(ctx context.Context, log *os.File, program string, args ...string) (*process, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Stderr = log
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("preparing %s: %w", program, err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	p := &process{command: command, ended: make(chan struct{})}
	line, err := bufio.NewReader(out).ReadString('\n')
	p.reap()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s said nothing; its log is %s: %w", program, log.Name(), err), p.kill())
	}
	p.address = strings.TrimSpace(line)
	return p, nil
}

// reap waits for the process in the background. It is called once the address
// has been read, since Wait closes the pipe.
func (p *process) reap() {
	goroutine.Go(new(sync.WaitGroup), func() {
		defer close(p.ended)
		_ = p.command.Wait() // that it was killed is no news
	}, func(error) {})
}

// kill ends the process as kill -9 does, and waits until it is gone.
func (p *process) kill() error {
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing %d: %w", p.command.Process.Pid, err)
	}
	<-p.ended
	return nil
}
