package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// serving runs toolgym serve on a free port until the test ends, and returns
// the address that it printed and a function that stops it.
func serving(t *testing.T, args ...string) (address string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...), strings.NewReader(""), writer, io.Discard)
		_ = writer.Close()
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	stop = func() int {
		cancel()
		return <-code
	}
	return strings.TrimSpace(line), stop
}

func TestServeAnswersAndDrains(t *testing.T) {
	address, stop := serving(t, "--data", t.TempDir())
	for _, path := range []string{"/healthz", "/readyz", "/v1/envs", "/openapi.json", "/docs", "/"} {
		response, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s", path, response.Status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if code := stop(); code != exitDone {
		t.Errorf("exit code %d after Ctrl-C, want 0", code)
	}
	if response, err := http.Get(address + "/healthz"); err == nil {
		_ = response.Body.Close()
		t.Error("it still answers")
	}
}

func TestServeOnATakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	var errOut bytes.Buffer
	code := run(t.Context(), []string{"serve", "--addr", taken.Addr().String(), "--data", t.TempDir()}, strings.NewReader(""), io.Discard, &errOut)
	if code != exitOutside || !strings.Contains(errOut.String(), "in use") || strings.Count(errOut.String(), "\n") != 1 {
		t.Errorf("exit code %d, %q", code, errOut.String())
	}
}

func TestDemoStays(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"demo", "--stay"}, strings.NewReader(""), writer, io.Discard)
		_ = writer.Close()
	}()
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		_, rest, found := strings.Cut(lines.Text(), "The page is at ")
		if !found {
			continue
		}
		address, _, _ := strings.Cut(rest, " ")
		response, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s", address, response.Status)
		}
		http.DefaultClient.CloseIdleConnections()
		cancel()
	}
	if got := <-code; got != exitDone {
		t.Errorf("exit code %d, want 0", got)
	}
	cancel()
}

// TestServeLimits takes all that a limit of the command line allows, and refuses
// limits that are none.
func TestServeLimits(t *testing.T) {
	address, stop := serving(t, "--data", t.TempDir(), "--max-episodes", "1")
	defer stop()
	for i, want := range []int{http.StatusCreated, http.StatusServiceUnavailable} {
		response, err := http.Post(address+"/v1/episodes", "application/json", strings.NewReader(`{"task_id":"arithmetic/0/1"}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("episode %d: %s; want %d", i+1, response.Status, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	for _, flag := range []string{"--max-episodes", "--max-memory", "--max-sessions", "--max-events", "--max-streams", "--max-scoring", "--max-bodies",
		"--max-requests", "--max-runs", "--max-evaluations", "--token-share", "--token-rate"} {
		var errOut bytes.Buffer
		code := run(t.Context(), []string{"serve", "--addr", "127.0.0.1:0", "--data", t.TempDir(), flag + "=-1"}, strings.NewReader(""), io.Discard, &errOut)
		if code != exitUsage || !strings.HasPrefix(errOut.String(), "toolgym: "+flag+": ") {
			t.Errorf("%s=-1: exit code %d, %s", flag, code, errOut.String())
		}
	}
}
