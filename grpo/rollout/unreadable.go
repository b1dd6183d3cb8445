package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolgym/grpo"
	"toolgym/internal/strictjson"
)

// mostUnreadable is how much of arguments that cannot be read is quoted, in
// bytes.
const mostUnreadable = 2 << 10

// errReply says that a reply is complete and not what a server of its kind
// answers.
var errReply = errors.New("the reply cannot be read")

// strict returns an error unless a message of a server can be read as the grader
// reads it.
func strict(text []byte) error {
	if !utf8.Valid(text) {
		return &strictjson.Error{Kind: strictjson.InvalidUTF8, Message: "the server's text is not valid UTF-8"}
	}
	_, err := strictjson.Decode(text)
	if failure, ok := errors.AsType[*strictjson.Error](err); ok && failure.Kind == strictjson.LoneSurrogate {
		return nil // a model can generate one, and the grader mends it
	}
	return err
}

// unreadable decides whose fault a reply is that cannot be read. What is wrong
// within the arguments of a call is the model's, which wrote them: the message
// then is the error that quotes them, as servers write it that read calls
// themselves, and the grader finds an attempt that is not a call. Anything else
// is the server's: of serving where a message came, which may be the model's or
// not, and of the infrastructure where none came.
func unreadable(text []byte, cause error) (json.RawMessage, *grpo.Failure) {
	if failure, ok := errors.AsType[*strictjson.Error](cause); ok && failure.Kind != strictjson.InvalidUTF8 {
		if quoted, ok := argumentsAt(text, failure.Offset); ok {
			return unparsable(quoted, failure.Message), nil
		}
	}
	if failure, ok := errors.AsType[*json.SyntaxError](cause); ok && strings.Contains(failure.Error(), "max depth") {
		if quoted, ok := argumentsAt(text, int(failure.Offset)); ok {
			return unparsable(quoted, failure.Error()), nil
		}
	}
	if errors.Is(cause, errReply) {
		return nil, &grpo.Failure{Kind: grpo.FailureInfrastructure, Reason: cause.Error()}
	}
	return nil, &grpo.Failure{Kind: grpo.FailureServing, Reason: fmt.Sprintf("%v: %v", errReply, cause)}
}

// unparsable is the error body of a server that could not parse a call.
func unparsable(quoted []byte, message string) json.RawMessage {
	if len(quoted) > mostUnreadable {
		quoted = quoted[:mostUnreadable]
	}
	said := fmt.Sprintf("error parsing tool call: raw='%s', err=%s", strings.ToValidUTF8(string(quoted), "\ufffd"), message)
	text, _ := json.Marshal(map[string]string{"error": said}) // strings always encode
	return text
}

// argumentsAt finds the arguments of a call that the offset is in. It follows
// the tokens, which may be nested to any depth and name keys twice.
func argumentsAt(text []byte, offset int) (quoted []byte, ok bool) {
	type level struct {
		object bool
		key    string
		isKey  bool // the next token is a key
	}
	var (
		levels  []level
		begin   = -1 // of the arguments
		outside int  // levels around them
		decoder = json.NewDecoder(bytes.NewReader(text))
	)
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		end := int(decoder.InputOffset())
		if err != nil {
			return text[max(begin, 0):], begin >= 0
		}
		if closing, isDelim := token.(json.Delim); isDelim && (closing == '}' || closing == ']') {
			levels = levels[:len(levels)-1]
		}
		top := len(levels) - 1
		if top >= 0 && levels[top].object && levels[top].isKey {
			if key, isText := token.(string); isText {
				levels[top].key, levels[top].isKey = key, false
				called := func(l level) bool { return l.key == "tool_calls" || l.key == "function_call" }
				if begin < 0 && (key == "arguments" || key == "parameters") && slices.ContainsFunc(levels, called) {
					begin, outside = end, len(levels)
				}
				continue
			}
		}
		if begin >= 0 && end >= offset && offset >= begin {
			return bytes.TrimLeft(text[begin:], " \t\r\n:"), true
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{object: true, isKey: true})
			continue
		case json.Delim('['):
			levels = append(levels, level{})
			continue
		}
		if top >= 0 && levels[top].object {
			levels[top].isKey = true
		}
		if begin >= 0 && len(levels) <= outside {
			begin = -1 // the arguments have ended before the offset
		}
		if end > offset {
			return nil, false
		}
	}
}
