package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tmc/langchaingo/callbacks"
	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/internal/goroutine"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// ToolLimits limits what one call of a tool costs.
type ToolLimits struct {
	Time   time.Duration // until the call is cancelled; 0 means 30 seconds
	Grace  time.Duration // that a cancelled call may take to return; 0 means 1 second
	Output int           // bytes of output that are returned; 0 means 64 KiB
}

func (l ToolLimits) withDefaults() ToolLimits {
	if l.Time == 0 {
		l.Time = 30 * time.Second
	}
	if l.Grace == 0 {
		l.Grace = time.Second
	}
	if l.Output == 0 {
		l.Output = 64 << 10
	}
	return l
}

// Guard wraps tools for a run. langchaingo's executor ends a run at the first
// error of a tool and never calls the tool callbacks of a handler. A guarded
// tool calls HandleToolStart and then HandleToolEnd or HandleToolError (pass
// the handler to the tool itself or to Guard, not to both). An error or a panic
// becomes an output {"error": message}. A call that takes too long is
// cancelled, and an output that is too long is truncated.
//
// Two errors are returned, since an agent cannot act on them: the error of a
// cancelled run, and the error of a toolgym tool whose server or environment
// failed.
//
// Go cannot stop a goroutine. A tool that ignores its context keeps running
// after the time and the grace period; the output says so.
func Guard(unguarded []lctools.Tool, limits ToolLimits, handler callbacks.Handler) []lctools.Tool {
	if handler == nil {
		handler = callbacks.SimpleHandler{}
	}
	guarded := make([]lctools.Tool, len(unguarded))
	for i, t := range unguarded {
		guarded[i] = guardedTool{t, limits.withDefaults(), handler}
	}
	return guarded
}

type guardedTool struct {
	lctools.Tool
	limits  ToolLimits
	handler callbacks.Handler
}

var _ Typed = guardedTool{}

// Parameters returns the schema of the tool, or that of a single string if the
// tool has none.
func (g guardedTool) Parameters() json.RawMessage { return parametersOf(g.Tool) }

// Done reports whether the tool belongs to an episode that has ended.
func (g guardedTool) Done() bool { return episodeDone([]lctools.Tool{g.Tool}) }

func (g guardedTool) Call(ctx context.Context, input string) (string, error) {
	g.handler.HandleToolStart(ctx, input)
	output, err := g.limits.call(ctx, g.Tool, unwrapInput(g.Tool, input))
	if err != nil {
		g.handler.HandleToolError(ctx, err)
		if fatal(ctx, err) {
			return "", err
		}
		return string(errorResult(err.Error()).Content), nil
	}
	output = clip(output, g.limits.Output)
	g.handler.HandleToolEnd(ctx, output)
	return output, nil
}

var errTimeout = errors.New("took too long")

// call runs the tool in a goroutine and waits for it, at most for the time and
// the grace period.
func (l ToolLimits) call(ctx context.Context, t lctools.Tool, input string) (string, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, l.Time, errTimeout)
	defer cancel()
	answered := make(chan toolAnswer, 1)
	var left sync.WaitGroup                                                              // not waited for: the tool may not return
	goroutine.Go(&left, func() { attempt(bounded, t, input, answered) }, func(error) {}) // attempt recovers
	select {
	case a := <-answered:
		if a.err == nil || bounded.Err() == nil {
			return a.output, a.err
		}
		answered <- a // it failed because it was cancelled
	case <-bounded.Done():
	}
	return "", l.waitForReturn(context.Cause(bounded), t, answered)
}

// waitForReturn waits for a cancelled call, at most for the grace period, and
// returns the error.
func (l ToolLimits) waitForReturn(cause error, t lctools.Tool, answered <-chan toolAnswer) error {
	if errors.Is(cause, errTimeout) {
		cause = fmt.Errorf("%w: more than %s", cause, l.Time)
	}
	grace := time.NewTimer(l.Grace)
	defer grace.Stop()
	select {
	case <-answered:
		return fmt.Errorf("%s: %w", t.Name(), cause)
	case <-grace.C:
		return fmt.Errorf("%s: %w, and it is still running, since it ignores its context", t.Name(), cause)
	}
}

type toolAnswer struct {
	output string
	err    error
}

// attempt calls a tool of the user. A panic becomes an error; attempt always
// sends an answer.
func attempt(ctx context.Context, t lctools.Tool, input string, answered chan<- toolAnswer) {
	a := toolAnswer{err: fmt.Errorf("%s: returned no output", t.Name())} // as by runtime.Goexit
	defer func() { answered <- a }()
	var output string
	err := goroutine.Run(func() (err error) {
		output, err = t.Call(ctx, input)
		return err
	})
	if p, ok := err.(*goroutine.PanicError); ok { //nolint:errorlint // a panic of this call, not one that the tool tells of
		err = fmt.Errorf("%s: panicked: %v", t.Name(), p.Value)
	}
	a = toolAnswer{output, err}
}

// clip truncates a text and says how long it was.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (cut: %d of %d bytes)", most, len(text))
}

// textParameters is the schema of a tool that takes one string and shows no
// schema, which is what langchaingo's own tools do.
const textParameters = `{"properties":{"input":{"type":"string","description":"The input of the tool, as text."}},` +
	`"additionalProperties":false,"type":"object","required":["input"]}`

// FromLangchain converts a langchaingo tool to a toolgym tool, so that it can
// be served, validated, recorded and graded. A [Typed] tool keeps its schema
// and gets its arguments as JSON. Any other tool takes {"input": string} and
// gets the string. An output that is a JSON object is the result; any other
// text becomes {"result": text}. An error, a panic or a timeout becomes an
// error result.
//
// The error of FromLangchain is that of a schema that does not compile.
func FromLangchain(t lctools.Tool, limits ToolLimits) (tools.Tool, error) {
	declared, err := tools.Declare(t.Name(), t.Description(), parametersOf(t))
	if err != nil {
		return tools.Tool{}, fmt.Errorf("converting tool %q: %w", t.Name(), err)
	}
	limits = limits.withDefaults()
	return tools.Bind(declared, func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
		if own, ok := t.(interface {
			result(context.Context, json.RawMessage) (tools.Result, error)
		}); ok {
			return unwrap(own.result(ctx, arguments))
		}
		output, err := limits.call(ctx, t, unwrapInput(t, string(arguments)))
		if fatal(ctx, err) {
			return nil, err
		}
		if err != nil {
			return nil, tools.Mistakef("%s", err)
		}
		return content(clip(output, limits.Output))
	}), nil
}

// parametersOf returns the schema of a tool, or that of a single string.
func parametersOf(t lctools.Tool) json.RawMessage {
	if typed, ok := t.(Typed); ok {
		return typed.Parameters()
	}
	return json.RawMessage(textParameters)
}

// unwrapInput returns the string in {"input": string} for a tool without a
// schema, which cannot read the object. Any other input is returned unchanged.
func unwrapInput(t lctools.Tool, input string) string {
	if _, typed := t.(Typed); typed {
		return input
	}
	value, err := strictjson.Decode([]byte(input))
	object, ok := value.(map[string]any)
	if text, isText := object["input"].(string); err == nil && ok && isText && len(object) == 1 {
		return text
	}
	return input
}

// content converts an output to the content of a result, a JSON object.
func content(output string) (json.RawMessage, error) {
	if isObject(output) {
		return json.RawMessage(output), nil
	}
	return json.Marshal(map[string]string{"result": output})
}

// unwrap converts a result back to what its handler returned.
func unwrap(result tools.Result, err error) (json.RawMessage, error) {
	if err != nil || !result.IsError {
		return result.Content, err
	}
	var failed struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(result.Content, &failed); err != nil {
		return nil, fmt.Errorf("decoding an error result: %w", err)
	}
	return nil, tools.Mistakef("%s", failed.Error)
}
