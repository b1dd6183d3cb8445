package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrainIsStopped ends the context in the middle, as Ctrl-C does, and goes
// on by the words that the command prints.
func TestTrainIsStopped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reader, writer := io.Pipe()
	var errOut bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"train", "--stages", "0,1,2", "--updates", "100000", "--json", "--out", dir}, strings.NewReader(""), writer, &errOut)
		_ = writer.Close()
	}()
	lines := bufio.NewScanner(reader)
	for n := 0; lines.Scan(); n++ {
		if n == 3 {
			stop()
		}
		if strings.Contains(lines.Text(), `"done"`) {
			t.Error("a run that was stopped says that it is done")
		}
	}
	if got := <-code; got != exitOutside {
		t.Errorf("exit code %d, want %d", got, exitOutside)
	}
	_, command, found := strings.Cut(errOut.String(), "go on with toolgym ")
	command, _, _ = strings.Cut(command, "\n")
	if !found || !strings.Contains(errOut.String(), "stopped and saved at update ") {
		t.Fatalf("printed %q", errOut.String())
	}
	args, err := words(command)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if got := run(t.Context(), append(args, "--updates", "20"), strings.NewReader(""), &out, &errOut); got != exitDone || !strings.Contains(out.String(), "\n20 updates,") {
		t.Errorf("exit code %d, %s\n%s", got, out.String(), errOut.String())
	}
}
