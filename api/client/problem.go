package client

import (
	"fmt"
	"strings"

	"toolgym/tools"
)

// A Problem is the body of every refusal: RFC 9457 problem details, its type
// always about:blank and therefore left out, with a code, the request's id and
// one [Flaw] for each thing that is wrong.
type Problem struct {
	Title     string `json:"title" doc:"The status in words." example:"Unprocessable Entity"`
	Status    int    `json:"status" example:"422"`
	Detail    string `json:"detail,omitempty" doc:"What is wrong and what would be right."`
	Code      string `json:"code,omitempty" doc:"The kind of refusal: invalid, unauthorized, forbidden, not_found, conflict, gone, too_large, exhausted or unavailable. Absent when the fault is the server's."`
	RequestID string `json:"request_id,omitempty" doc:"The X-Request-Id of the exchange; the server's log names it too."`
	Errors    []Flaw `json:"errors,omitempty" doc:"Each thing that is wrong with the request."`
}

// A Flaw is one thing that is wrong with a request, and where: a JSON pointer
// into the body as a URI fragment, or the name of a parameter.
type Flaw struct {
	Detail    string `json:"detail"`
	Pointer   string `json:"pointer,omitempty" example:"#/seed"`
	Parameter string `json:"parameter,omitempty" doc:"A path or query parameter, or a header."`
	Want      string `json:"want,omitempty" doc:"What would be right."`
}

// Err is the error that the problem stands for: an [*tools.Error] where the
// caller or the state of things is to blame, an ordinary error otherwise.
func (p Problem) Err() error {
	if p.Code == "" {
		return fmt.Errorf("the server answered %d %s: %s (request id %s)", p.Status, p.Title, p.Detail, p.RequestID)
	}
	e := &tools.Error{Code: p.Code, Message: p.Detail}
	if len(p.Errors) == 1 {
		flaw := p.Errors[0]
		e.Message, e.Where, e.Want = flaw.Detail, strings.TrimPrefix(flaw.Pointer, "#")+flaw.Parameter, flaw.Want
	}
	return e
}
