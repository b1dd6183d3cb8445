package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(command()) }

// command runs the command line of this process. A pipe that closes is an error
// of the write to it, not the end of the process: what was spilled to disk is
// to be removed.
func command() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
