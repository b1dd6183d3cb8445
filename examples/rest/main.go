package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

func main() {
	url := flag.String("url", "", "a running server; without it, one of our own")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *url); err != nil {
		fmt.Fprintln(os.Stderr, "rest:", err)
		os.Exit(1)
	}
}

// run plays one episode and tells about it.
func run(ctx context.Context, out io.Writer, url string) error {
	if url == "" {
		server, err := api.New(api.Config{Specs: tools.Specs{arithmetic.Spec()}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		listening := httptest.NewServer(server)
		defer listening.Close()
		url = listening.URL
	}
	c, err := client.New(client.Config{URL: url})
	if err != nil {
		return err
	}
	defer c.Close()
	path, err := c.Play(ctx, "arithmetic/1/17", solver{out})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d steps, return %g, success %t\n", len(path.Steps), path.Return, path.Success)
	return err
}

// solver is an agent: it sees the task and a Caller, and knows nothing of HTTP.
type solver struct{ out io.Writer }

func (s solver) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	prompt := task.Prompt[len(task.Prompt)-1].Content
	fmt.Fprintln(s.out, prompt)
	var a, b, c, d int
	if _, err := fmt.Sscanf(prompt, "Compute (%d*%d+%d)-%d.", &a, &b, &c, &d); err != nil {
		return fmt.Errorf("reading the prompt: %w", err)
	}
	var last struct{ Result json.Number }
	for _, next := range []struct{ tool, arguments string }{
		{"multiply", fmt.Sprintf(`{"a":%d,"b":%d}`, a, b)},
		{"add", fmt.Sprintf(`{"a":%%s,"b":%d}`, c)},
		{"subtract", fmt.Sprintf(`{"a":%%s,"b":%d}`, d)},
		{"answer", `{"value":%s}`},
	} {
		if last.Result != "" {
			next.arguments = fmt.Sprintf(next.arguments, last.Result)
		}
		step, err := caller.Step(ctx, tools.Call{Name: next.tool, Arguments: json.RawMessage(next.arguments)})
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s %s -> %s\n", next.tool, next.arguments, step.Result.Content)
		_ = json.Unmarshal(step.Result.Content, &last) // the last tool answers something else
	}
	return nil
}
