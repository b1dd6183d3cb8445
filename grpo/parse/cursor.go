package parse

import "toolgym/internal/strictjson"

// A cursor is where a form that is no JSON is being read. The offsets of its
// errors are relative to where the reading began.
type cursor struct {
	s         *scan
	at, start int
}

func (c *cursor) fail(kind strictjson.Kind, message string) *strictjson.Error {
	return &strictjson.Error{Kind: kind, Offset: c.at - c.start, Message: message}
}

// due reports that something else stands at the position.
func (c *cursor) due(what string) *strictjson.Error {
	if c.at >= c.s.end {
		return c.fail(strictjson.UnexpectedEnd, "the text ends where "+what+" is due")
	}
	return c.fail(strictjson.Unexpected, what+" is due")
}
