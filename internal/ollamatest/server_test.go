package ollamatest_test

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toolgym/internal/ollamatest"
	"toolgym/internal/parts"
)

// victim makes this test binary a process that starts a server and waits to
// be killed.
const victim = "TOOLGYM_OLLAMATEST_VICTIM"

func TestStartSharesOneServer(t *testing.T) {
	first, second := ollamatest.Start(t), ollamatest.Start(t)
	if first != second {
		t.Errorf("two servers: %s and %s", first.URL, second.URL)
	}
}

func TestStopEndsTheServer(t *testing.T) {
	shared, own := ollamatest.Start(t), ollamatest.StartOwn(t)
	if own.URL == shared.URL {
		t.Fatalf("the test's own server is the shared one: %s", own.URL)
	}
	if err := dial(own.URL); err != nil {
		t.Fatalf("before Stop: %v", err)
	}
	own.Stop()
	own.Stop()
	if err := dial(own.URL); err == nil {
		t.Errorf("%s still accepts connections after Stop", own.URL)
	}
	if err := dial(shared.URL); err != nil {
		t.Errorf("the shared server is gone as well: %v", err)
	}
}

func TestServerDiesWithItsProcess(t *testing.T) {
	parts.Need(t, parts.Ollama)
	if os.Getenv(victim) != "" {
		fmt.Println("serving at " + ollamatest.Start(t).URL)
		select {}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerDiesWithItsProcess$", "-test.v")
	cmd.Env = append(os.Environ(), victim+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := servingAt(t, bufio.NewScanner(out))
	if err := dial(address); err != nil {
		t.Errorf("before the kill: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // its error says that it was killed
	awaitRefusal(t, address)
}

// servingAt reads the URL that the victim prints.
func servingAt(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "serving at "); ok {
			return address
		}
	}
	t.Fatalf("the victim ended without a server: %v", lines.Err())
	return ""
}

// awaitRefusal waits until nobody listens at address any more.
func awaitRefusal(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if dial(address) != nil {
			return
		}
	}
	t.Errorf("%s outlived its test process", address)
}

// dial opens a connection to a server and closes it.
func dial(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		return err
	}
	return conn.Close()
}
