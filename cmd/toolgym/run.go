package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"

	"toolgym/internal/atomicfile"
	"toolgym/internal/goroutine"
	"toolgym/internal/plain"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

// The exit codes of every command.
const (
	exitDone      = 0
	exitThreshold = 1 // a threshold or an audit failed
	exitUsage     = 2 // usage or configuration
	exitOutside   = 3 // something outside failed
)

// commandLine is the grammar; each command's struct lives in its own file.
type commandLine struct {
	Data   string     `help:"Directory of runs, checkpoints and logs (default: the user's data directory)." placeholder:"DIR"`
	Config configFile `help:"JSON file of settings, keys are flag names in snake_case." placeholder:"FILE" env:"-"`

	Demo    demoCommand    `cmd:"" help:"Play, grade and compare agents on embedded defaults, in under a minute."`
	Serve   serveCommand   `cmd:"" help:"Serve the environments as tools over REST."`
	Envs    envsCommand    `cmd:"" help:"List environments, levels and tools."`
	Tasks   tasksCommand   `cmd:"" help:"List tasks of an environment."`
	Play    playCommand    `cmd:"" help:"Play one task with an agent, or yourself."`
	Train   trainCommand   `cmd:"" help:"Train a policy on an environment."`
	Explain explainCommand `cmd:"" help:"Show what a trained policy makes of tasks."`
	Parse   parseCommand   `cmd:"" help:"Read the tool calls that a model wrote."`
	Score   scoreCommand   `cmd:"" help:"Score completions in groups, JSON lines to JSON lines."`
	Skills  skillsCommand  `cmd:"" help:"Procedural memory: learn, list and plot skills."`
	Audit   auditCommand   `cmd:"" help:"Attack a rubric: try to be paid without doing the task."`
	MCP     mcpCommand     `cmd:"" name:"mcp" help:"Serve one task's tools over MCP, on stdin and stdout."`
	Token   tokenCommand   `cmd:"" help:"Make a token for toolgym serve --token-file."`
	Eval    evalCommand    `cmd:"" help:"Evaluate a local model's tool calling."`
	Runs    runsCommand    `cmd:"" help:"List, delete, export or rescore evaluations."`
	Report  reportCommand  `cmd:"" help:"Report what an evaluation found."`
	Compare compareCommand `cmd:"" help:"Say whether the difference between two evaluations is real."`
	Show    showCommand    `cmd:"" help:"Show what was said in the trials of a task."`
	Export  exportCommand  `cmd:"" help:"Write what a trainer needs."`
	Models  modelsCommand  `cmd:"" help:"List the models of an Ollama server."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// console is what a command gets from the world around it.
type console struct {
	in    io.Reader
	out   io.Writer // results
	err   io.Writer // progress and logs
	log   *slog.Logger
	specs tools.Specs
	data  string // --data as given; may be empty
}

// shipped are the environments in the binary, in the order of display.
func shipped() tools.Specs { return tools.Specs{arithmetic.Spec(), gridworld.Spec(), research.Spec()} }

// run is the whole program except for the process around it.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	results := &pipe{Writer: out}
	code := runTo(ctx, args, in, results, errOut)
	if failed := results.failed.Load(); code == exitDone && failed != nil {
		return report(errOut, fmt.Errorf("writing results: %w", *failed))
	}
	return code
}

func runTo(ctx context.Context, args []string, in io.Reader, out *pipe, errOut io.Writer) int {
	var line commandLine
	exited := false
	parser, err := kong.New(&line, kong.Name("toolgym"),
		kong.Description("A gym for tool calling."),
		kong.Writers(out, errOut), kong.Exit(func(int) { exited = true }),
		kong.DefaultEnvars("TOOLGYM"), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(fmt.Sprintf("toolgym: the command line's grammar is wrong: %v", err))
	}
	parsed, err := parser.Parse(args)
	if exited { // --help has been printed
		return exitDone
	}
	if err != nil {
		return report(errOut, err)
	}
	world := &console{in: in, out: out, err: errOut, specs: shipped(), data: line.Data,
		log: slog.New(slog.NewTextHandler(errOut, nil))}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return report(errOut, parsed.Run(world))
}

// A threshold is an error that means: everything ran, and the figure is too low.
type threshold struct{ error }

// report prints an error on one line and chooses the exit code.
func report(errOut io.Writer, err error) int {
	if err == nil || errors.Is(err, errEnough) {
		return exitDone
	}
	if p, ok := errors.AsType[*goroutine.PanicError](err); ok {
		_, _ = errOut.Write(p.Stack) // there is no other log of it
	}
	_, _ = fmt.Fprintln(errOut, "toolgym: "+plain.Line(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " ")))
	return exitCode(err)
}

func exitCode(err error) int {
	var (
		low    threshold
		syntax *kong.ParseError
		caller *tools.Error
	)
	switch {
	case errors.As(err, &low):
		return exitThreshold
	case atomicfile.IsFull(err):
		return exitOutside
	case errors.As(err, &syntax):
		return exitUsage
	case errors.As(err, &caller) && caller.Code != tools.Unavailable && caller.Code != tools.Exhausted:
		return exitUsage
	}
	return exitOutside
}
