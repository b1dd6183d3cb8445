//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	for _, h := range hostileTexts() {
		line, err := json.Marshal(map[string]any{
			"group": "g", "tools": json.RawMessage(`[{"name":"multiply","parameters":{"type":"object"}}]`), "expected": json.RawMessage(`{"calls":` + expectedCalls + `}`),
			"text": h.start + strings.Repeat(h.again, (hostileSize-len(h.start))/len(h.again)),
		})
		if err != nil {
			return err
		}
		file := filepath.Join(c.dir, "hostile.jsonl")
		if err := os.WriteFile(file, line, 0o600); err != nil {
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
