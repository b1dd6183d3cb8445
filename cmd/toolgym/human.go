package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// human reads moves from the terminal: a tool's name with JSON arguments
// behind it, or "say" and a message.
type human struct{ world *console }

func (h human) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	_, _ = fmt.Fprintf(h.world.err, "Type a tool and its arguments as JSON, or: say TEXT. Tools: %s. End with Ctrl-D.\n", strings.Join(caller.Tools().Names(), ", "))
	lines := bufio.NewScanner(h.world.in)
	for ctx.Err() == nil && lines.Scan() {
		name, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if rest = strings.TrimSpace(rest); name == "" || name != "say" && rest != "" && !h.fits(rest) {
			continue
		}
		step, err := h.move(ctx, caller, name, rest)
		if err != nil {
			return err
		}
		if step.Done() {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading moves: %w", err)
	}
	return ctx.Err()
}

// fits tells the player of arguments that are no JSON: a slip of the hand, and
// nothing that the environment or a trajectory could hold.
func (h human) fits(arguments string) bool {
	_, err := strictjson.Decode([]byte(arguments))
	if err != nil {
		_, _ = fmt.Fprintf(h.world.err, "These arguments are no JSON: %v. Type for example: multiply {\"a\":4,\"b\":2}\n", err)
	}
	return err == nil
}

func (h human) move(ctx context.Context, caller tools.Caller, name, rest string) (tools.Step, error) {
	if speaker, ok := caller.(tools.Speaker); ok && name == "say" {
		return speaker.Say(ctx, rest)
	}
	return caller.Step(ctx, tools.Call{Name: name, Arguments: json.RawMessage(rest)})
}
