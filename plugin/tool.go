package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Typed is a langchaingo tool that also shows the JSON Schema of its
// arguments. Every tool made here is Typed; a user's own may be.
type Typed interface {
	lctools.Tool
	Parameters() json.RawMessage
}

// Tools offers the tools of a set to langchaingo, in their order. A tool's
// input is the JSON object of its arguments, and its output the JSON object of
// its result; the agent's mistake is an output {"error": message} and no Go
// error.
//
// A tool that acts on an episode has no handler of its own: offer the episode
// by [EpisodeTools]. That, and names that differ in case only, is an
// [*tools.Error]: langchaingo's executor folds the case of names, so that one
// of the two could not be called.
func Tools(set tools.Set) ([]lctools.Tool, error) {
	for i, t := range set {
		if !t.Callable() {
			return nil, &tools.Error{Code: tools.Conflict, Where: fmt.Sprintf("/tools/%d", i),
				Message: fmt.Sprintf("tool %q has no handler of its own", t.Name), Want: "EpisodeTools of an episode"}
		}
	}
	return offer(set, set.Call)
}

// offer wraps each tool of the set around one way to call them all.
func offer(set tools.Set, call func(context.Context, tools.Call) (tools.Result, error)) ([]lctools.Tool, error) {
	offered := make([]lctools.Tool, len(set))
	for i, t := range set {
		offered[i] = offeredTool{tool: t, only: onlyString(t.Parameters), call: call}
	}
	return offered, distinct(offered)
}

// distinct reports names that langchaingo's executor takes for one.
func distinct(offered []lctools.Tool) error {
	seen := make(map[string]string, len(offered))
	for i, t := range offered {
		folded := strings.ToUpper(t.Name())
		if first, ok := seen[folded]; ok {
			return refusal.New(fmt.Sprintf("/tools/%d", i), "names that differ in more than case", "tool %q and tool %q differ in case at most, and langchaingo folds it", t.Name(), first)
		}
		seen[folded] = t.Name()
	}
	return nil
}

// offeredTool is a toolgym tool as langchaingo sees it.
type offeredTool struct {
	tool tools.Tool
	only string
	call func(context.Context, tools.Call) (tools.Result, error)
}

var _ Typed = offeredTool{}

func (o offeredTool) Name() string                { return o.tool.Name }
func (o offeredTool) Description() string         { return o.tool.Description }
func (o offeredTool) Parameters() json.RawMessage { return o.tool.Parameters }

// Call runs the tool. Its error is never the agent's mistake: it tells that
// something outside failed, and ends the run.
func (o offeredTool) Call(ctx context.Context, input string) (string, error) {
	result, err := o.result(ctx, arguments(input, o.only))
	return string(result.Content), err
}

// result is Call without the loss of IsError.
func (o offeredTool) result(ctx context.Context, arguments json.RawMessage) (tools.Result, error) {
	result, err := o.call(ctx, tools.Call{Name: o.tool.Name, Arguments: arguments})
	if err != nil {
		return tools.Result{}, &outage{fmt.Errorf("calling %s: %w", o.tool.Name, err)}
	}
	return result, nil
}

// outage marks an error that no agent can mend. [Guard] hands it on.
type outage struct{ error }

func (o *outage) Unwrap() error { return o.error }

// hopeless reports whether an error is one that no agent can mend.
func hopeless(ctx context.Context, err error) bool {
	_, is := errors.AsType[*outage](err)
	return is || ctx.Err() != nil
}
