package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/api/client"
	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// Typed is a langchaingo tool with a JSON Schema of its arguments. Every tool
// of this package is Typed; tools of users may be.
type Typed interface {
	lctools.Tool
	Parameters() json.RawMessage
}

// Tools converts a set to langchaingo tools, in the same order. The input of a
// tool is the JSON object of its arguments, and its output the JSON object of
// its result. A mistake of the agent is an output {"error": message} and not a
// Go error.
//
// It returns a [*tools.Error] for tools without a handler, which act on an
// episode: use [EpisodeTools] for those. Names that differ only in case are an
// error as well, since langchaingo's executor ignores case and could not call
// one of the two.
func Tools(set tools.Set) ([]lctools.Tool, error) {
	for i, t := range set {
		if !t.Callable() {
			return nil, &tools.Error{Code: tools.Conflict, Where: fmt.Sprintf("/tools/%d", i),
				Message: fmt.Sprintf("tool %q has no handler", t.Name), Want: "the tools of an episode by EpisodeTools"}
		}
	}
	return offer(set, set.Call)
}

// offer wraps each tool of the set; call makes all calls.
func offer(set tools.Set, call func(context.Context, tools.Call) (tools.Result, error)) ([]lctools.Tool, error) {
	offered := make([]lctools.Tool, len(set))
	for i, t := range set {
		offered[i] = offeredTool{tool: t, only: singleStringParameter(t.Parameters), call: call}
	}
	return offered, checkNames(offered)
}

// checkNames returns an error for names that langchaingo's executor cannot tell
// apart.
func checkNames(offered []lctools.Tool) error {
	seen := make(map[string]string, len(offered))
	for i, t := range offered {
		folded := strings.ToUpper(t.Name())
		if first, ok := seen[folded]; ok {
			return refusal.New(fmt.Sprintf("/tools/%d", i), "names that differ in more than case", "the names %q and %q differ only in case, which langchaingo ignores", t.Name(), first)
		}
		seen[folded] = t.Name()
	}
	return nil
}

// offeredTool is a toolgym tool in langchaingo's form.
type offeredTool struct {
	tool tools.Tool
	only string
	call func(context.Context, tools.Call) (tools.Result, error)
}

var _ Typed = offeredTool{}

func (o offeredTool) Name() string                { return o.tool.Name }
func (o offeredTool) Description() string         { return o.tool.Description }
func (o offeredTool) Parameters() json.RawMessage { return o.tool.Parameters }

// Call runs the tool. Its error is never a mistake of the agent: a server or
// environment failed, and the run ends.
func (o offeredTool) Call(ctx context.Context, input string) (string, error) {
	result, err := o.result(ctx, arguments(input, o.only))
	return string(result.Content), err
}

// result is Call with the result as it is.
func (o offeredTool) result(ctx context.Context, arguments json.RawMessage) (tools.Result, error) {
	result, err := o.call(ctx, tools.Call{Name: o.tool.Name, Arguments: arguments})
	if err != nil {
		return tools.Result{}, &outageError{fmt.Errorf("calling %s: %w", o.tool.Name, err)}
	}
	return result, nil
}

// outageError marks an error that an agent cannot act on. [Guard] returns it
// unchanged.
type outageError struct{ error }

func (o *outageError) Unwrap() error { return o.error }

// fatal reports whether an agent cannot act on an error.
func fatal(ctx context.Context, err error) bool {
	_, is := errors.AsType[*outageError](err)
	return is || ctx.Err() != nil
}

// EpisodeTools converts the tools of a running episode: of an environment after
// Reset, an episode on a server, or an [MCP] session. The tools share the
// episode and make one call at a time. After the end of the episode they return
// an error result without a call; an [Agent] that has them finishes then.
func EpisodeTools(caller tools.Caller) ([]lctools.Tool, error) {
	return (&episode{caller: caller}).tools()
}

func (e *episode) tools() ([]lctools.Tool, error) {
	offered, err := offer(e.caller.Tools(), e.call)
	for i, t := range offered {
		offered[i] = episodeTool{t.(offeredTool), e}
	}
	return offered, err
}

// episode makes one call at a time.
type episode struct {
	mu     sync.Mutex
	caller tools.Caller
	done   bool
}

func (e *episode) call(ctx context.Context, call tools.Call) (tools.Result, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return tools.Result{}, err
	}
	if e.done {
		return errorResult("the episode is over"), nil
	}
	step, err := e.caller.Step(ctx, call)
	if err != nil {
		return tools.Result{}, err
	}
	e.done = step.Done()
	return step.Result, nil
}

// episodeTool is a tool that knows whether its episode has ended.
type episodeTool struct {
	offeredTool
	episode *episode
}

// Done reports whether the episode has ended.
func (t episodeTool) Done() bool {
	t.episode.mu.Lock()
	defer t.episode.mu.Unlock()
	return t.episode.done
}

// episodeDone reports whether one of the tools belongs to an episode that has
// ended.
func episodeDone(offered []lctools.Tool) bool {
	for _, t := range offered {
		if e, ok := t.(interface{ Done() bool }); ok && e.Done() {
			return true
		}
	}
	return false
}

// errorResult is the result for a mistake of the agent.
func errorResult(message string) tools.Result {
	content, err := json.Marshal(map[string]string{"error": message})
	if err != nil { // a map of strings always encodes
		content = json.RawMessage(`{}`)
	}
	return tools.Result{Content: content, IsError: true}
}

// arguments converts the string that langchaingo passes to a tool. It should be
// the JSON object of the arguments. As in a structured message, nothing and
// null mean no arguments, and a JSON string with an object in it means that
// object. Any other text is the value of the only parameter if the tool has
// exactly one and it is a string; only is its name, or "". A text that cannot
// be read is returned unchanged, and the tool's validation reports the error.
func arguments(input, only string) json.RawMessage {
	text := strings.TrimSpace(input)
	if text == "" || text == "null" {
		return json.RawMessage("{}")
	}
	if strings.HasPrefix(text, "{") {
		return json.RawMessage(text)
	}
	value, err := strictjson.Decode([]byte(text))
	if quoted, ok := value.(string); err == nil && ok {
		if isObject(quoted) {
			return json.RawMessage(strings.TrimSpace(quoted))
		}
		input = quoted
	}
	if only == "" {
		return json.RawMessage(text)
	}
	wrapped, err := json.Marshal(map[string]string{only: input})
	if err != nil {
		return json.RawMessage(text)
	}
	return wrapped
}

// isObject reports whether text is exactly one JSON object.
func isObject(text string) bool {
	value, err := strictjson.Decode([]byte(text))
	_, object := value.(map[string]any)
	return err == nil && object
}

// singleStringParameter returns the name of the only parameter of a schema if
// it is a string.
func singleStringParameter(parameters json.RawMessage) string {
	var schema struct {
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(parameters, &schema); err != nil || len(schema.Properties) != 1 {
		return ""
	}
	for name, property := range schema.Properties {
		if property.Type == "string" {
			return name
		}
	}
	return ""
}

// Served binds tools without an episode to a running "toolgym serve", which
// executes their calls. Arguments are validated on both sides. An episode of
// the server needs no binding: a client's Episode is a [tools.Caller].
func Served(c *client.Client, set tools.Set) tools.Set {
	served := make(tools.Set, len(set))
	for i, t := range set {
		served[i] = tools.Bind(t, func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
			return unwrap(c.CallTool(ctx, t.Name, arguments))
		})
	}
	return served
}
