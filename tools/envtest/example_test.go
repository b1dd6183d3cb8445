package envtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"toolgym/tools"
	"toolgym/tools/envtest"
)

func spec() tools.Spec {
	take := tools.New[move, stones]("take", "Takes stones from the pile.", nil)
	return tools.Spec{
		Name: "pile", Description: "Take all stones from a pile.",
		Rules: []string{tools.Sound}, Levels: []string{"0"},
		Tools:   func(_, _ string) tools.Set { return tools.Set{take} },
		NewTask: newTask,
		New: func() tools.Env {
			p := &pile{}
			p.tools = tools.Set{tools.Bind(take, p.take)}
			return p
		},
		Oracle: oracle{},
	}
}

func newTask(rules, level string, seed uint64) (tools.Task, error) {
	if rules != tools.Sound || level != "0" {
		return tools.Task{}, &tools.Error{Code: tools.Invalid, Message: "unknown rules or level", Want: "rules sound and level 0"}
	}
	n := 5 + int(seed%5)
	text := fmt.Sprintf("There are %d stones. Take 1 to 3 at a time until none is left.", n)
	return tools.Task{Prompt: []tools.Message{{Role: "user", Content: text}}, Optimal: (n + 2) / 3}, nil
}

type move struct {
	Count int `json:"count" jsonschema:"minimum=1,maximum=3"`
}

type stones struct {
	Stones int `json:"stones"`
}

// pile is the state machine.
type pile struct {
	tools           tools.Set
	left, steps     int
	running, solved bool
}

func (p *pile) take(_ context.Context, in move) (stones, error) {
	if in.Count > p.left {
		return stones{}, tools.Mistakef("only %d stones are left", p.left)
	}
	p.left -= in.Count
	return stones{p.left}, nil
}

func (p *pile) Tools() tools.Set { return p.tools }
func (p *pile) Success() bool    { return p.solved }

func (p *pile) Reset(_ context.Context, task tools.Task) (json.RawMessage, error) {
	if task.Env != "pile" {
		return nil, &tools.Error{Code: tools.Invalid, Where: "env", Message: "a task of another environment", Want: "a task of pile"}
	}
	if _, err := newTask(task.Rules, task.Level, task.Seed); err != nil {
		return nil, err
	}
	p.left, p.steps, p.running, p.solved = 5+int(task.Seed%5), 0, true, false
	return json.Marshal(stones{p.left})
}

func (p *pile) Step(ctx context.Context, call tools.Call) (tools.Step, error) {
	if !p.running {
		return tools.Step{}, &tools.Error{Code: tools.Conflict, Message: "no episode is running", Want: "a reset first"}
	}
	result, err := p.tools.Call(ctx, call)
	if err != nil {
		return tools.Step{}, err
	}
	p.steps++
	p.solved = p.left == 0
	p.running = !p.solved && p.steps < 20
	switch {
	case p.solved:
		return tools.Termination(call, result, 1), nil
	case !p.running:
		return tools.Truncation(call, result, 0), nil
	}
	return tools.Transition(call, result, 0), nil
}

// oracle takes as many stones as it may.
type oracle struct{}

func (oracle) Play(ctx context.Context, _ tools.Task, observation json.RawMessage, caller tools.Caller) error {
	var state stones
	if err := json.Unmarshal(observation, &state); err != nil {
		return err
	}
	for state.Stones > 0 {
		step, err := caller.Step(ctx, tools.Call{Name: "take", Arguments: fmt.Appendf(nil, `{"count":%d}`, min(3, state.Stones))})
		if err != nil {
			return err
		}
		if err := json.Unmarshal(step.Result.Content, &state); err != nil {
			return err
		}
	}
	return nil
}

func TestContract(t *testing.T) { envtest.Run(t, spec()) }

// A complete environment, played by its oracle. TestContract in the same file
// tests it:
//
//	func TestContract(t *testing.T) { envtest.Run(t, spec()) }
func Example() {
	task, err := spec().Task("", "", 2)
	if err != nil {
		log.Fatal(err)
	}
	trajectory, err := tools.Rollout(context.Background(), spec().New(), task, spec().Oracle)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(task.ID, task.Prompt[0].Content)
	for _, step := range trajectory.Steps {
		fmt.Printf("%s %s: %s\n", step.Call.Name, step.Call.Arguments, step.Result.Content)
	}
	fmt.Println("success:", trajectory.Success)
	// Output:
	// pile/0/2 There are 7 stones. Take 1 to 3 at a time until none is left.
	// take {"count":3}: {"stones":4}
	// take {"count":3}: {"stones":1}
	// take {"count":1}: {"stones":0}
	// success: true
}

// TestReadme checks that the code of README.md is that of this file.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(readme), "```go\n")
	if len(parts) < 3 {
		t.Errorf("got %d blocks of Go code; want at least 2", len(parts)-1)
	}
	for _, part := range parts[1:] {
		code, _, _ := strings.Cut(part, "```")
		if !strings.Contains(string(source), code) {
			t.Errorf("example_test.go does not contain this block of README.md:\n%s", code)
		}
	}
}
