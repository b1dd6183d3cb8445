package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"
)

// A plan is what to do, and how much of it. The bounds keep a slip of the
// keyboard from bringing the machine down.
type plan struct {
	episodes, clients int
	duration          time.Duration
	kill, hostile     bool
	attacks           *regexp.Regexp // names of the rows that are sent
	binary            string         // of toolgym; empty builds it
	json              bool
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == bareCommand {
		serveBare()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "loadtest:", err)
		os.Exit(1)
	}
}

func parse(args []string) (p plan, err error) {
	flags := flag.NewFlagSet("loadtest", flag.ContinueOnError)
	flags.IntVar(&p.episodes, "episodes", 2000, "live episodes, at most 4,000")
	flags.IntVar(&p.clients, "clients", 64, "clients at the same time, at most 512")
	flags.DurationVar(&p.duration, "d", 2*time.Minute, "for how long, at most an hour")
	flags.BoolVar(&p.kill, "kill", false, "kill -9 the server in the middle, and start it again")
	flags.BoolVar(&p.hostile, "hostile", false, "let a fifth of the clients send hostile requests, every other phase; -d is the time with and the time without")
	only := flags.String("attacks", "", "with -hostile, send only the attacks whose names match a regular expression")
	flags.StringVar(&p.binary, "toolgym", "", "the program to test (default: built from this module)")
	flags.BoolVar(&p.json, "json", false, "print JSON")
	if err := flags.Parse(args); err != nil {
		return p, err
	}
	if p.clients < 1 || p.clients > 512 || p.episodes < p.clients || p.episodes > 4000 || p.duration <= 0 || p.duration > time.Hour {
		return p, errors.New("out of bounds; expected 1 to 512 clients, at least as many episodes and at most 4,000, and at most an hour")
	}
	if p.hostile && (p.kill || p.clients < 2) {
		return p, errors.New("-hostile: expected at least 2 clients, and no -kill")
	}
	if p.attacks, err = regexp.Compile(*only); err != nil {
		return p, fmt.Errorf("-attacks: %w", err)
	}
	return p, nil
}

// run measures the bare handler and then the server, and prints both.
func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := parse(args)
	if err != nil {
		return err
	}
	bare, err := measureBare(ctx, p)
	if err != nil {
		return err
	}
	do := measure
	if p.hostile {
		do = measureHostile
	}
	r, err := do(ctx, p)
	if err != nil {
		return err
	}
	r.Bare = &bare
	if p.json {
		err = json.NewEncoder(out).Encode(r)
	} else {
		err = r.print(out)
	}
	return errors.Join(err, r.broken())
}
