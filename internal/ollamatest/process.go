package ollamatest

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// startLimit bounds the start of a server and the creation of a model. Both
// take a fraction of a second on an idle machine.
const startLimit = time.Minute

// logLimit bounds how much of a log is shown for one failed test, in bytes.
const logLimit = 8 << 10

// supervisor runs "$0 serve" until its own standard input is closed. Then it
// removes the folder $1 and kills its process group: itself, the server, and
// the server's runners.
const supervisor = `
exec 3<&0
(cat <&3 >/dev/null; rm -rf "$1"; kill -KILL 0) &
"$0" serve </dev/null 3<&-
echo "ollama ended with status $?"
`

//go:embed testdata/Modelfile.* testdata/*.gguf
var models embed.FS

// process is a supervised "ollama serve" and the folder that it works in.
type process struct {
	program  string
	folder   string
	address  string
	log      *os.File
	cmd      *exec.Cmd
	lifeline io.Closer
	killed   sync.Once
}

// launch starts program in a new folder and returns when it listens.
func launch(program string) (*process, error) {
	folder, err := os.MkdirTemp("", "ollamatest-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for ollama: %w", err)
	}
	p := &process{program: program, folder: folder}
	if err := p.run(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", program, err), os.RemoveAll(folder))
	}
	if p.address, err = p.awaitAddress(); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// run starts the supervisor with the server's log as its output.
func (p *process) run() error {
	if err := os.CopyFS(p.folder, models); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(p.folder, "log"))
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", supervisor, p.program, p.folder)
	cmd.Env = p.environment("127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = log, log
	ownGroup(cmd)
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	p.log, p.cmd, p.lifeline = log, cmd, lifeline
	return cmd.Start()
}

// environment is the process's own without any setting of the user's Ollama
// or of a proxy, and with those that make a server for tests.
func (p *process) environment(host string) []string {
	var env []string
	for _, setting := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToUpper(setting), "=")
		if !strings.HasPrefix(name, "OLLAMA_") && !strings.HasSuffix(name, "_PROXY") {
			env = append(env, setting)
		}
	}
	return append(env,
		"HOME="+p.folder,
		"OLLAMA_HOST="+host,
		"OLLAMA_MODELS="+filepath.Join(p.folder, "models"),
		"OLLAMA_NUM_PARALLEL=1",
		"OLLAMA_MAX_LOADED_MODELS=2",
		"OLLAMA_KEEP_ALIVE=1h",
		"GIN_MODE=release",
	)
}

// awaitAddress reads the log until the server says where it listens. Having
// the server pick the port, and tell, leaves no moment in which another
// process could take it.
func (p *process) awaitAddress() (string, error) {
	listening := regexp.MustCompile(`Listening on (127\.0\.0\.1:[0-9]+)`)
	for deadline := time.Now().Add(startLimit); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		log := p.logSince(0)
		if found := listening.FindSubmatch(log); found != nil {
			return string(found[1]), nil
		}
		if bytes.Contains(log, []byte("ollama ended with status")) {
			return "", fmt.Errorf("ollama ended before it listened:\n%s", log)
		}
	}
	return "", fmt.Errorf("ollama does not listen after %v:\n%s", startLimit, p.logSince(0))
}

// oneThread is added to each Modelfile: the two threads that two cores get by
// default wait for each other by spinning, which on a busy machine makes the
// answers of so small a model ten times as slow.
const oneThread = "PARAMETER num_thread 1\n"

// create makes a model by its Modelfile, as a user would.
func (p *process) create(model string) error {
	recipe, err := models.ReadFile("testdata/Modelfile." + model)
	if err != nil {
		return fmt.Errorf("reading the recipe of %s: %w", model, err)
	}
	path := filepath.Join(p.folder, "testdata", "Modelfile."+model)
	if err := os.WriteFile(path, append(recipe, oneThread...), 0o600); err != nil {
		return fmt.Errorf("writing the recipe of %s: %w", model, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.program, "create", model, "-f", path)
	cmd.Env = p.environment(p.address)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("creating the model %s: %w\n%s\nlog of ollama:\n%s", model, err, out, p.logSince(0))
	}
	return nil
}

// kill ends the process group and waits for its end. The error of Wait says
// only that the group was killed, which is what was asked for.
func (p *process) kill() {
	p.killed.Do(func() {
		_ = p.lifeline.Close()
		_ = p.cmd.Wait()
		p.awaitSilence()
	})
}

// awaitSilence returns when the server's port is closed. The group is killed
// at once, but the supervisor, whose end Wait reports, may die a moment
// before the server.
func (p *process) awaitSilence() {
	for deadline := time.Now().Add(startLimit); p.address != "" && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			return
		}
		_ = conn.Close()
	}
}

// release ends the process and lets go of its log, which can be read until
// then.
func (p *process) release() {
	p.kill()
	_ = p.log.Close()
}

// logSize returns how much the server has logged so far, in bytes.
func (p *process) logSize() int64 {
	stat, err := p.log.Stat()
	if err != nil {
		return 0
	}
	return stat.Size()
}

// logSince returns what was logged after the first from bytes: its end, where
// it is long.
func (p *process) logSince(from int64) []byte {
	to := p.logSize()
	text := make([]byte, min(max(to-from, 0), logLimit))
	n, err := p.log.ReadAt(text, to-int64(len(text)))
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Appendf(nil, "(the log cannot be read: %v)", err)
	}
	return text[:n]
}
