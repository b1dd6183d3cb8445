package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/internal/strictjson"
	"toolgym/tools"
)

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
