//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"
)

// hostileSize is the length of a completion that was made to be expensive.
const hostileSize = 10_000_000

// hostileTexts repeats what is expensive in one way or another.
func hostileTexts() []struct{ name, start, again string } {
	return []struct{ name, start, again string }{
		{"right calls", "", "<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 4, \"b\": 2}}\n</tool_call>"},
		{"calls without an end", "", `<tool_call>{`},
		{"deep arguments", `<tool_call>{"name":"multiply","arguments":{"a":`, `[`},
		{"quotes in a name", `<tool_call>{"name":"`, `\"`},
		{"thoughts without an end", "", "<think>"},
		{"angle brackets", "", "<"},
		{"fences", "", "```json\n{\"name\":"},
		{"call expressions", "", "[multiply(a=1, b=2),"},
	}
}

// hostile lets the whole command score each such completion, and prints what it
// took.
func (c *command) hostile(ctx context.Context, w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "one completion of 10 MB\ts\tMB at most")
	file := filepath.Join(c.dir, "hostile.jsonl")
	for _, h := range hostileTexts() {
		if err := writeHostile(file, h.start, h.again); err != nil {
			return err
		}
		took, most, err := c.cost(ctx, file)
		if err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		fmt.Fprintf(table, "%s\t%.2f\t%d\n", h.name, took.Seconds(), most/1e6)
	}
	return table.Flush()
}

// writeHostile writes a scoring file of one line, without holding it: a child's
// memory counts its parent's at its birth.
func writeHostile(path, start, again string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	fmt.Fprintf(out, `{"group":"g","tools":[{"name":"multiply","parameters":{"type":"object"}}],"expected":{"calls":%s},"text":"%s`, expectedCalls, escaped(start))
	again = escaped(again)
	for n := len(start); n < hostileSize; n += len(again) {
		_, _ = out.WriteString(again) // Flush returns the first error
	}
	_, _ = out.WriteString("\"}\n")
	return errors.Join(out.Flush(), file.Close())
}

// escaped is a text as it stands between the quotes of JSON.
func escaped(text string) string {
	quoted, _ := json.Marshal(text) // a string always encodes
	return string(quoted[1 : len(quoted)-1])
}

// cost is the wall time of scoring a file, and the most memory in bytes.
func (c *command) cost(ctx context.Context, file string) (time.Duration, int64, error) {
	cmd := exec.CommandContext(ctx, c.path, "score", file)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, err
	}
	took := time.Since(start)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return took, 0, nil
	}
	return took, residentBytes(usage), nil
}
