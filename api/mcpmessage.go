package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// codeServer is the JSON-RPC code of errors of this server that have no code of
// their own: the first of the range that the specification leaves to servers.
const codeServer = -32000

// A message is one JSON-RPC message as it was sent, checked for what the SDK does
// not check, or answers by ending the session.
type message struct {
	text   json.RawMessage
	method string // empty for a response
	id     any    // int64, string, or nil for a notification
	params json.RawMessage
}

// call reports whether the message asks for an answer.
func (m message) call() bool { return m.method != "" && m.id != nil }

// A malformed message is answered with a JSON-RPC error.
type malformed struct {
	id  any // nil where it cannot be told
	err *jsonrpc.Error
}

func (m *malformed) Error() string { return m.err.Message }

// body is the answer.
func (m *malformed) body() []byte {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.id, "error": m.err})
	if err != nil {
		panic(fmt.Sprintf("api: a JSON-RPC error that cannot be written: %v", err)) // it is made of strings and numbers
	}
	return text
}

func malformedf(code int64, id any, format string, args ...any) *malformed {
	return &malformed{id, &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// readMessages reads a message, or a batch of them. The error is a *malformed.
func readMessages(text []byte) (list []message, batch bool, err error) {
	if !utf8.Valid(text) || !json.Valid(text) {
		return nil, false, malformedf(jsonrpc.CodeParseError, nil, "parse error: the message is not JSON in UTF-8")
	}
	var parts []json.RawMessage
	if json.Unmarshal(text, &parts) != nil || parts == nil { // null is no list
		m, err := readMessage(text)
		return []message{m}, false, err
	}
	if len(parts) == 0 {
		return nil, true, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: the batch is empty")
	}
	seen := map[any]bool{}
	for i, part := range parts {
		m, err := readMessage(part)
		if err != nil {
			return nil, true, err
		}
		if m.method == "initialize" {
			return nil, true, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: initialize must not be part of a batch")
		}
		if m.call() && seen[m.id] {
			return nil, true, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: the id of message %d of the batch is used twice", i+1)
		}
		seen[m.id] = true
		list = append(list, m)
	}
	return list, true, nil
}

// readMessage reads one message.
func readMessage(text []byte) (message, error) {
	var fields map[string]json.RawMessage // unlike those of a struct, keys are told apart by case, as by the SDK
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return message{}, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: the message must be a JSON object")
	}
	id, err := readID(fields["id"])
	if err != nil {
		return message{}, malformedf(jsonrpc.CodeInvalidRequest, nil, "invalid request: id: %v", err)
	}
	decoded, err := jsonrpc.DecodeMessage(text) // as the SDK does, which ends the session over an error
	if err != nil {
		return message{}, malformedf(jsonrpc.CodeInvalidRequest, id, "invalid request: expected a JSON-RPC 2.0 message, nested at most 1000 deep")
	}
	m := message{text: text, id: id}
	if request, ok := decoded.(*jsonrpc.Request); ok {
		m.method, m.params = request.Method, request.Params
		if m.method == "" {
			return message{}, malformedf(jsonrpc.CodeInvalidRequest, id, "invalid request: the method is empty")
		}
		if m.method == "initialize" && !bytes.HasPrefix(m.params, []byte("{")) { // the SDK's error has no code
			return message{}, malformedf(jsonrpc.CodeInvalidParams, id, "invalid params: initialize: expected an object")
		}
	}
	return m, nil
}

// maxIDLength bounds the bytes of an id, which answers repeat.
const maxIDLength = 256

// readID reads the id of a message: an int64, a string, or nil where there is
// none. The SDK takes every number through a float64, so that one which is not a
// small integer would come back as another.
func readID(text json.RawMessage) (any, error) {
	if text == nil {
		return nil, nil
	}
	if len(text) > maxIDLength {
		return nil, fmt.Errorf("got %d bytes; expected at most %d", len(text), maxIDLength)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, errors.New("expected a string or an integer") // a number beyond float64
	}
	switch v := value.(type) {
	case string:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			return int64(v), nil
		}
		return nil, errors.New("expected an integer of at most 53 bits")
	}
	return nil, errors.New("expected a string or an integer")
}
