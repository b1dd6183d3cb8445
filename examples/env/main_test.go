package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/envtest"
)

var update = flag.Bool("update", false, "write the golden output")

func TestContract(t *testing.T) { envtest.Run(t, spec()) }

// TestOutput plays the game over REST, served beside arithmetic.
func TestOutput(t *testing.T) {
	server, err := api.New(api.Config{Specs: tools.Specs{spec(), arithmetic.Spec()}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(server)
	defer listening.Close()
	c, err := client.New(client.Config{URL: listening.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out strings.Builder
	envs, err := c.Envs(t.Context())
	for _, env := range envs {
		fmt.Fprintf(&out, "%s: %s\n", env.Name, env.Description)
	}
	path, playErr := c.Play(t.Context(), "guessing/0/7", halver{&out})
	fmt.Fprintf(&out, "%d guesses, return %g\n", len(path.Steps), path.Return)
	if err != nil || playErr != nil {
		t.Fatal(err, playErr)
	}
	testkit.Golden(t, "testdata/output.txt", out.String(), *update)
}

// halver guesses the middle of what is left.
type halver struct{ out *strings.Builder }

func (h halver) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	fmt.Fprintln(h.out, task.Prompt[0].Content)
	for low, high := 0, 99; ; {
		middle := (low + high) / 2
		step, err := caller.Step(ctx, tools.Call{Name: "guess", Arguments: fmt.Appendf(nil, `{"number":%d}`, middle)})
		if err != nil {
			return err
		}
		fmt.Fprintf(h.out, "%d: %s\n", middle, step.Result.Content)
		if step.Done() {
			return nil
		}
		if strings.Contains(string(step.Result.Content), "higher") {
			low = middle + 1
		} else {
			high = middle - 1
		}
	}
}
