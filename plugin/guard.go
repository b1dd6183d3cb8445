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

// ToolLimits bound what one call of a tool may cost.
type ToolLimits struct {
	Time   time.Duration // until the call is cancelled; 0 means 30 seconds
	Grace  time.Duration // that a cancelled call may take to return; 0 means 1 second
	Output int           // bytes of output that the agent gets to see; 0 means 64 KiB
}

func (l ToolLimits) filled() ToolLimits {
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

// Guard makes tools safe for a run, whoever runs them: langchaingo's executor
// ends a run at a tool's first error and never fires a tool callback. A guarded
// tool fires HandleToolStart and then HandleToolEnd or HandleToolError (give
// the handler to the tool itself or to Guard, not to both); it answers an error
// or a panic with an output {"error": message}; it is cancelled when it takes
// too long, and what it says is cut when it is too long.
//
// Two errors it does return, since no agent can mend them: that of a cancelled
// run, and that of a toolgym tool whose server or environment failed.
//
// Go can not stop a goroutine. A tool that does not heed its context is left
// behind, still running, after the time and the grace; its output says so.
func Guard(unguarded []lctools.Tool, limits ToolLimits, handler callbacks.Handler) []lctools.Tool {
	if handler == nil {
		handler = callbacks.SimpleHandler{}
	}
	guarded := make([]lctools.Tool, len(unguarded))
	for i, t := range unguarded {
		guarded[i] = guardedTool{t, limits.filled(), handler}
	}
	return guarded
}

type guardedTool struct {
	lctools.Tool
	limits  ToolLimits
	handler callbacks.Handler
}

var _ Typed = guardedTool{}

// Parameters is the schema of the tool, or that of one string for a tool
// without a schema.
func (g guardedTool) Parameters() json.RawMessage { return parametersOf(g.Tool) }

// Done reports whether the tool belongs to an episode that is over.
func (g guardedTool) Done() bool { return over([]lctools.Tool{g.Tool}) }

func (g guardedTool) Call(ctx context.Context, input string) (string, error) {
	g.handler.HandleToolStart(ctx, input)
	output, err := g.limits.call(ctx, g.Tool, plain(g.Tool, input))
	if err != nil {
		g.handler.HandleToolError(ctx, err)
		if hopeless(ctx, err) {
			return "", err
		}
		return string(mistake(err.Error()).Content), nil
	}
	output = clip(output, g.limits.Output)
	g.handler.HandleToolEnd(ctx, output)
	return output, nil
}

var errOverdue = errors.New("took too long")

// call runs the tool in a goroutine of its own and waits for it, at most for
// the time and the grace.
func (l ToolLimits) call(ctx context.Context, t lctools.Tool, input string) (string, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, l.Time, errOverdue)
	defer cancel()
	answered := make(chan answer, 1)
	var left sync.WaitGroup                                                              // not waited for: the tool may not return
	goroutine.Go(&left, func() { attempt(bounded, t, input, answered) }, func(error) {}) // attempt has recovered
	select {
	case a := <-answered:
		if a.err == nil || bounded.Err() == nil {
			return a.output, a.err
		}
		answered <- a // it failed because it was cancelled
	case <-bounded.Done():
	}
	return "", l.overdue(context.Cause(bounded), t, answered)
}

// overdue gives a cancelled call its grace and says how it went.
func (l ToolLimits) overdue(cause error, t lctools.Tool, answered <-chan answer) error {
	if errors.Is(cause, errOverdue) {
		cause = fmt.Errorf("%w: more than %s", cause, l.Time)
	}
	grace := time.NewTimer(l.Grace)
	defer grace.Stop()
	select {
	case <-answered:
		return fmt.Errorf("%s: %w", t.Name(), cause)
	case <-grace.C:
		return fmt.Errorf("%s: %w, and it goes on running, since it does not heed its context", t.Name(), cause)
	}
}

type answer struct {
	output string
	err    error
}

// attempt calls a tool of somebody else's, whose panic must not end the
// program, and answers whatever it does.
func attempt(ctx context.Context, t lctools.Tool, input string, answered chan<- answer) {
	a := answer{err: fmt.Errorf("%s: ended without an answer", t.Name())} // as by runtime.Goexit
	defer func() { answered <- a }()
	var output string
	err := goroutine.Run(func() (err error) {
		output, err = t.Call(ctx, input)
		return err
	})
	if p, ok := err.(*goroutine.PanicError); ok { //nolint:errorlint // a panic of this call, not one that the tool tells of
		err = fmt.Errorf("%s: panicked: %v", t.Name(), p.Value)
	}
	a = answer{output, err}
}

// clip cuts a text and says how much there was.
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

// Adopt makes a toolgym tool of a langchaingo tool, so that it can be served,
// validated, recorded and graded. A [Typed] tool keeps its schema and is given
// its arguments as JSON; any other takes {"input": string} and is given the
// string. An output that is a JSON object is the result; any other text becomes
// {"result": text}. An error, a panic or a time out is the agent's to read: an
// error result.
//
// The error of Adopt is that of a schema that does not compile.
func Adopt(t lctools.Tool, limits ToolLimits) (tools.Tool, error) {
	declared, err := tools.Declare(t.Name(), t.Description(), parametersOf(t))
	if err != nil {
		return tools.Tool{}, fmt.Errorf("adopting %q: %w", t.Name(), err)
	}
	limits = limits.filled()
	return tools.Bind(declared, func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
		if own, ok := t.(interface {
			result(context.Context, json.RawMessage) (tools.Result, error)
		}); ok {
			return unwrap(own.result(ctx, arguments))
		}
		output, err := limits.call(ctx, t, plain(t, string(arguments)))
		if hopeless(ctx, err) {
			return nil, err
		}
		if err != nil {
			return nil, tools.Mistakef("%s", err)
		}
		return content(clip(output, limits.Output))
	}), nil
}

// parametersOf is the schema that a tool shows, or that of one string.
func parametersOf(t lctools.Tool) json.RawMessage {
	if typed, ok := t.(Typed); ok {
		return typed.Parameters()
	}
	return json.RawMessage(textParameters)
}

// plain takes the string out of {"input": string} for a tool that shows no
// schema: it would not understand the object. Any other input is the tool's own
// affair.
func plain(t lctools.Tool, input string) string {
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

// content makes a result's content, a JSON object, of an output.
func content(output string) (json.RawMessage, error) {
	if isObject(output) {
		return json.RawMessage(output), nil
	}
	return json.Marshal(map[string]string{"result": output})
}

// unwrap turns a toolgym result back into what its handler returned.
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
