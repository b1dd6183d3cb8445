package tools

import (
	"fmt"
	"strings"
)

// The codes of an [Error]. One table in package api maps them to HTTP.
const (
	Invalid      = "invalid"      // the request cannot be understood or names something impossible
	Unauthorized = "unauthorized" // no valid token
	Forbidden    = "forbidden"    // a valid token that may not do this
	NotFound     = "not_found"    // nothing has that name
	Conflict     = "conflict"     // the state does not allow it now
	Gone         = "gone"         // it was there and has expired
	TooLarge     = "too_large"    // over a documented size
	Exhausted    = "exhausted"    // a bounded resource is full; try again later
	Unavailable  = "unavailable"  // something that is needed does not answer
)

// An Error is a mistake of the caller: it says what was wrong, where, and what
// would have been right.
type Error struct {
	Code    string // one of the constants of this package
	Message string // what is wrong
	Where   string // a JSON pointer, a parameter or a file position; may be empty
	Want    string // what would be right; may be empty
}

// Error joins the parts into one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	b.WriteString(e.Message)
	if e.Want != "" {
		b.WriteString("; expected " + e.Want)
	}
	return b.String()
}

// mistake is an error that the agent made and can act on.
type mistake struct{ message string }

func (m *mistake) Error() string { return m.message }

// Mistakef returns the error by which a handler tells the agent that it made a
// mistake. It becomes an error result; the episode goes on.
func Mistakef(format string, args ...any) error {
	return &mistake{fmt.Sprintf(format, args...)}
}
