package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolgym/api/client"
)

// A process is a real toolgym serve.
type process struct {
	command *exec.Cmd
	address string
}

// spawn starts this test's own binary as toolgym serve, and waits until it has
// printed its address.
func spawn(t *testing.T, data string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self, "serve", "--addr", "127.0.0.1:0", "--data", data)
	command.Args[0] = "toolgym" // testscript.Main runs the program of this name
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &process{command, strings.TrimSpace(line)}
}

// kill ends the process as kill -9 does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.command.Wait() // it says that it was killed
}

// A siege is a number of players of one server that is killed again and again.
type siege struct {
	t        *testing.T
	address  atomic.Pointer[string]
	answered atomic.Int64 // calls, by all players
	enough   atomic.Bool

	mu    sync.Mutex
	steps map[string]int // of each episode, as its player was told
}

// send posts until there is an answer: while the server is away it waits.
func (s *siege) send(path string, body any, answer any) int {
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Error(err)
	}
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		response, err := http.Post(*s.address.Load()+path, "application/json", bytes.NewReader(text))
		if err != nil {
			continue
		}
		received, err := io.ReadAll(response.Body)
		if closed := response.Body.Close(); err != nil || closed != nil {
			continue
		}
		if err := json.Unmarshal(received, answer); err != nil {
			s.t.Errorf("%s: %v in %s", path, err, received)
		}
		return response.StatusCode
	}
	s.t.Errorf("%s: no answer within a minute", path)
	s.enough.Store(true)
	return 0
}

// play begins one episode after the other and makes calls whose answers are
// numbered: a step that is lost, or made twice, shows at once.
func (s *siege) play(player int) {
	for round := 0; !s.enough.Load(); round++ {
		var state client.State
		if status := s.send("/v1/episodes", client.Start{TaskID: fmt.Sprintf("gridworld/0/%d", player)}, &state); status != http.StatusCreated {
			s.t.Errorf("starting: %d", status)
			return
		}
		for n := 1; !s.enough.Load(); n++ {
			call := client.Call{Name: []string{"move_up", "move_down"}[n%2], RequestID: fmt.Sprintf("%d-%d-%d", player, round, n)}
			var answer client.Answer
			if status := s.send("/v1/episodes/"+state.ID+"/calls", call, &answer); status != http.StatusOK || answer.Step != n {
				s.t.Errorf("episode %s call %d: status %d, step %d", state.ID, n, status, answer.Step)
				return
			}
			s.answered.Add(1)
			s.mu.Lock()
			s.steps[state.ID] = n
			s.mu.Unlock()
			if answer.Terminated || answer.Truncated {
				break
			}
		}
	}
}

// TestKilledUnderLoad kills a real server at random moments while players play.
// The next one goes on: no answered step is lost, and none that is asked for
// again is made twice.
func TestKilledUnderLoad(t *testing.T) {
	const players, kills = 8, 4
	random := rand.New(rand.NewPCG(6, 9))
	data := t.TempDir()
	server := spawn(t, data)
	s := &siege{t: t, steps: map[string]int{}}
	s.address.Store(&server.address)
	var group sync.WaitGroup
	for player := range players {
		group.Go(func() { s.play(player) })
	}
	for range kills {
		goal := s.answered.Load() + 20 + random.Int64N(300)
		for s.answered.Load() < goal && !s.enough.Load() && !t.Failed() {
			time.Sleep(time.Duration(random.Int64N(int64(2 * time.Millisecond))))
		}
		server.kill(t)
		server = spawn(t, data)
		s.address.Store(&server.address)
	}
	goal := s.answered.Load() + 50
	for s.answered.Load() < goal && !s.enough.Load() && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	s.enough.Store(true)
	group.Wait()
	http.DefaultClient.CloseIdleConnections()
	s.check(server)
}

// check compares what the players were told with what the server has.
func (s *siege) check(server *process) {
	caller, err := client.New(client.Config{URL: server.address})
	if err != nil {
		s.t.Fatal(err)
	}
	defer caller.Close()
	total := 0
	for id, told := range s.steps {
		episode, err := caller.Open(s.t.Context(), id)
		if err != nil {
			s.t.Errorf("the episode %s: %v", id, err)
			continue
		}
		path, err := episode.Trajectory(s.t.Context())
		if err != nil || len(path.Steps) != told {
			s.t.Errorf("the episode %s has %d steps, its player was told of %d (%v)", id, len(path.Steps), told, err)
		}
		total += told
	}
	s.t.Logf("%d episodes, %d steps", len(s.steps), total)
}
