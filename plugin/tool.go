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

// EpisodeTools offers the tools of a running episode: of an environment that
// has been reset, of an episode that a server keeps, of an [MCP] session. The
// tools share the episode and make one call at a time. Once the episode is over
// they say so and call nothing; an [Agent] that has them finishes then.
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

// episode lets one call at a time through to its caller.
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
		return mistake("the episode is over: no further call counts"), nil
	}
	step, err := e.caller.Step(ctx, call)
	if err != nil {
		return tools.Result{}, err
	}
	e.done = step.Done()
	return step.Result, nil
}

// episodeTool is a tool that knows whether its episode is over.
type episodeTool struct {
	offeredTool
	episode *episode
}

// Done reports whether the episode is over.
func (t episodeTool) Done() bool {
	t.episode.mu.Lock()
	defer t.episode.mu.Unlock()
	return t.episode.done
}

// over reports whether one of the tools belongs to an episode that has ended.
func over(offered []lctools.Tool) bool {
	for _, t := range offered {
		if e, ok := t.(interface{ Done() bool }); ok && e.Done() {
			return true
		}
	}
	return false
}

// mistake is the result that tells an agent what it did wrong.
func mistake(message string) tools.Result {
	content, err := json.Marshal(map[string]string{"error": message})
	if err != nil { // a map of strings always encodes
		content = json.RawMessage(`{}`)
	}
	return tools.Result{Content: content, IsError: true}
}

// arguments reads the one string that langchaingo hands to a tool. It should
// be the JSON object of the arguments. As in a structured message, nothing and
// null are no arguments, and a JSON string that holds an object is that
// object. Any other text is the value of the parameter only, where the tool has
// just that one and it is a string; only is "" where it has not. What can not
// be read is handed on as it is, for the tool's own check to say what is wrong.
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

// onlyString names the parameter of a schema that has no other, if it is a
// string.
func onlyString(parameters json.RawMessage) string {
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

// Served binds tools that need no episode to a running "toolgym serve", which
// carries out their calls. Arguments are checked here and there. For an episode
// of the server no binding is needed: a client's Episode is a [tools.Caller].
func Served(c *client.Client, set tools.Set) tools.Set {
	served := make(tools.Set, len(set))
	for i, t := range set {
		served[i] = tools.Bind(t, func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
			return unwrap(c.CallTool(ctx, t.Name, arguments))
		})
	}
	return served
}
