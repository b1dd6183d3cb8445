package api

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/api/client"
	"toolgym/internal/atomicfile"
	"toolgym/internal/quota"
	"toolgym/tools"
)

// A failure is a problem document on its way out, with the headers that go
// with it. huma writes it as it is.
type failure struct {
	client.Problem
	header http.Header
	fault  error // for the log; nil for what is the caller's
}

var (
	_ huma.StatusError       = (*failure)(nil)
	_ huma.HeadersError      = (*failure)(nil)
	_ huma.ContentTypeFilter = (*failure)(nil)
)

func (f *failure) Error() string             { return f.Detail }
func (f *failure) GetStatus() int            { return f.Status }
func (f *failure) GetHeaders() http.Header   { return f.header }
func (f *failure) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// mostFlaws is how many flaws a problem document lists. Its detail counts all.
const mostFlaws = 20

// fail makes the problem of a status, where no tools.Error stands behind it.
func fail(status int, detail string) *failure {
	return &failure{Problem: client.Problem{
		Title: http.StatusText(status), Status: status, Detail: detail, Code: codeOf(status),
	}}
}

// after adds the time after which it is worth to try again.
func (f *failure) after(wait time.Duration) *failure {
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	f.header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return f
}

// busy is a refusal that passes: something bounded is full.
type busy struct {
	error
	wait time.Duration
}

func (b *busy) Unwrap() error { return b.error }

// diskWait is after which time a request is worth trying again that failed because
// the disk is full.
const diskWait = 10 * time.Second

// failureOf turns an error of a handler into what the client may see of it. It
// returns nil for our own and the outside's faults, which the client may not.
func failureOf(op *huma.Operation, err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if atomicfile.IsFull(err) { // before the tools.Error of the database, which has a path
		f := fail(http.StatusServiceUnavailable, "the disk of the server is full").after(diskWait)
		f.Code, f.fault = tools.Exhausted, err
		return f
	}
	e, ok := errors.AsType[*tools.Error](err)
	if !ok || statusOf(e.Code) == http.StatusInternalServerError {
		return nil
	}
	detail := e.Message
	if e.Want != "" {
		detail += "; expected " + e.Want
	}
	f := fail(statusOf(e.Code), detail)
	if _, over := errors.AsType[*quota.ShareError](err); over {
		f = fail(http.StatusTooManyRequests, detail)
	}
	f.Code = e.Code
	if e.Where != "" {
		flaw := place(op, e.Where)
		flaw.Detail, flaw.Want = e.Message, e.Want
		f.Errors = []client.Flaw{flaw}
	}
	if f.Status == http.StatusServiceUnavailable || f.Status == http.StatusTooManyRequests {
		wait := time.Second
		if b, ok := errors.AsType[*busy](err); ok {
			wait = b.wait
		}
		return f.after(wait)
	}
	return f
}

// place says where a name is found in a request: among the parameters, or else
// in the body.
func place(op *huma.Operation, where string) client.Flaw {
	if pointer, ok := strings.CutPrefix(where, "/"); ok {
		return client.Flaw{Pointer: "#/" + pointer}
	}
	if op == nil { // a route that is not in the document has no body of ours
		return client.Flaw{Parameter: where}
	}
	for _, p := range op.Parameters {
		if p.Name == where {
			return client.Flaw{Parameter: where}
		}
	}
	if op.RequestBody == nil {
		return client.Flaw{Parameter: where}
	}
	return client.Flaw{Pointer: "#/" + where}
}

// restate is the transformer that turns huma's own error document into ours:
// parameters that do not parse, and the flaws that a body reports.
func restate(ctx huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	f := restated(ctx.Operation(), model)
	f.RequestID = exchangeOf(ctx.Context()).id
	return f.Problem, nil
}

// restated is the failure that an error document of huma's stands for.
func restated(op *huma.Operation, model *huma.ErrorModel) *failure {
	f := fail(model.Status, model.Detail)
	for _, detail := range model.Errors[:min(mostFlaws, len(model.Errors))] {
		f.Errors = append(f.Errors, flawOf(op, detail))
	}
	if n := len(model.Errors); n > 1 {
		f.Detail = fmt.Sprintf("%d things are wrong with the request", n)
	}
	if len(f.Errors) == 1 {
		f.Detail = f.Errors[0].Detail
		if hint := f.Errors[0].Want; hint != "" {
			f.Detail += "; expected " + hint
		}
		if f.Errors[0].Pointer+f.Errors[0].Parameter == "" {
			f.Errors = nil // the detail says it all
		}
	}
	return f
}

// flawOf leaves out the offending value, which may be the whole body.
func flawOf(op *huma.Operation, detail *huma.ErrorDetail) client.Flaw {
	flaw := client.Flaw{Detail: detail.Message}
	if strings.HasPrefix(detail.Location, "#") {
		flaw.Pointer = detail.Location
		return flaw
	}
	if _, name, ok := strings.Cut(detail.Location, "."); ok {
		flaw.Parameter = fmt.Sprintf("%.80s", name)
		if !strings.Contains(flaw.Detail, "; expected ") {
			flaw.Want = admitted(op, name)
		}
	}
	if flaw.Want != "" && strings.HasPrefix(flaw.Detail, "expected ") { // which says the same, less well
		flaw.Detail = "the value is not admitted"
	}
	return flaw
}

// admitted says what a parameter may be; of an unknown one, which there are.
func admitted(op *huma.Operation, name string) string {
	var known []string
	for _, p := range op.Parameters {
		switch {
		case p.Name == name:
			return valueOf(p.Schema)
		case p.In == "query":
			known = append(known, p.Name)
		}
	}
	if len(known) == 0 {
		return "none, this path takes no parameters"
	}
	return "one of " + strings.Join(known, ", ")
}

// valueOf says what values a schema of a parameter admits.
func valueOf(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case len(s.Enum) > 0:
		return "one of " + strings.ReplaceAll(strings.Trim(fmt.Sprint(s.Enum), "[]"), " ", ", ")
	case s.Type == huma.TypeBoolean:
		return "true or false"
	case s.Type == huma.TypeInteger && s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("an integer between %v and %v", *s.Minimum, *s.Maximum)
	case s.Format == "uint64":
		return "an integer between 0 and 18446744073709551615"
	case s.Type == huma.TypeInteger:
		return "an integer"
	}
	return ""
}

// problemTable has the problem documents that the OpenAPI document shows, each
// with the request that it answers. A test sends these requests and compares.
//
//go:embed problems.json
var problemTable string

// A problemExample is a row of the table: a refusal of one operation, or one that
// operations have in common.
type problemExample struct {
	Operation string         `json:"operation,omitempty"` // empty for one in common
	Status    int            `json:"status"`
	Setting   string         `json:"setting,omitempty"` // of the server, where the usual one would not refuse
	Request   problemRequest `json:"request"`
	Problem   client.Problem `json:"problem"`
}

// A problemRequest is a request that is refused.
type problemRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"` // and query
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// problemExamples reads the table.
func problemExamples() ([]problemExample, error) {
	var rows []problemExample
	if err := json.Unmarshal([]byte(problemTable), &rows); err != nil {
		return nil, fmt.Errorf("reading the table of problem documents: %w", err)
	}
	return rows, nil
}

// examplesOf are the rows of an operation's status as the OpenAPI document shows
// them; those in common have no operation.
func (s *Server) examplesOf(operation string, status int) map[string]*huma.Example {
	examples := map[string]*huma.Example{}
	for _, row := range s.problems {
		if row.Operation != operation || row.Status != status {
			continue
		}
		examples[fmt.Sprint("refusal", len(examples)+1)] = &huma.Example{Summary: row.Setting, Value: row.Problem,
			Extensions: map[string]any{"x-request": row.Request}}
	}
	return examples
}

// A coded is a row of the one table between the codes of tools.Error and HTTP.
type coded struct {
	code   string
	status int
}

func codes() [9]coded {
	return [...]coded{
		{tools.Invalid, http.StatusUnprocessableEntity},
		{tools.Unauthorized, http.StatusUnauthorized},
		{tools.Forbidden, http.StatusForbidden},
		{tools.NotFound, http.StatusNotFound},
		{tools.Conflict, http.StatusConflict},
		{tools.Gone, http.StatusGone},
		{tools.TooLarge, http.StatusRequestEntityTooLarge},
		{tools.Unavailable, http.StatusServiceUnavailable}, // before exhausted: it is what the status alone means
		{tools.Exhausted, http.StatusServiceUnavailable},
	}
}

// statusOf is a code's status. A code that is not in the table is our own mistake,
// and answered like one.
func statusOf(code string) int {
	for _, row := range codes() {
		if row.code == code {
			return row.status
		}
	}
	return http.StatusInternalServerError
}

// codeOf names the refusals that HTTP itself knows, and that no tools.Error
// stands behind, by the nearest code.
func codeOf(status int) string {
	switch status {
	case http.StatusMisdirectedRequest:
		return tools.Forbidden
	case http.StatusTooManyRequests:
		return tools.Exhausted
	}
	for _, row := range codes() {
		if row.status == status {
			return row.code
		}
	}
	if status >= 400 && status < 500 {
		return tools.Invalid
	}
	return ""
}
