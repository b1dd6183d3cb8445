package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/tools"
)

// A route is one operation as its resource declares it: what it is for, and
// what it can answer besides the refusals that every route knows.
type route struct {
	id, method, path string
	tag              string // the resource
	role             string // that the caller needs; empty means any token, if there are tokens at all
	summary, text    string
	status           int   // of success; zero means 200
	refusals         []int // statuses of this route's own refusals
	limit            int64 // bytes of the body; zero takes Config.MaxBody
	work             int   // light, heavy or streamed
	request, answer  any   // examples for the document

	parameters []*huma.Param // of a raw route, besides those of its path
	// number counts the completions of a body, and says where they are; nil where
	// a body has none.
	number func(value any) (n int, pointer string)
}

// A reply is an answer with nothing but a body.
type reply[T any] struct{ Body T }

func answered[T any](body T) *reply[T] { return &reply[T]{Body: body} }

// A created is the answer to something new, and says where it is.
type created[T any] struct {
	Location string `header:"Location" doc:"The path of what was made."`
	Body     T
}

// handle serves a route. The handler's input is a struct of path and query
// fields and, where there is one, a field of type body; its errors become
// problem documents, by the table in status.go where they are the caller's.
func handle[I, O any](s *Server, r route, do func(context.Context, *I) (*O, error)) {
	op := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Tags: []string{r.tag},
		Summary: r.summary, Description: r.text, DefaultStatus: r.status,
		Metadata:    map[string]any{},
		Middlewares: huma.Middlewares{s.admits(r.role), s.wellAsked, s.weighed(r, bodyOf[I]() != nil), s.computes(r.work)},
	}
	var served *huma.Operation
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		turn := exchangeOf(ctx).turn
		err := turn.Begin(ctx) // where there is a body, it has begun with that
		var out *O
		if err == nil {
			out, err = do(ctx, in)
			turn.End()
		}
		if err == nil {
			return out, nil
		}
		f := failureOf(served, err)
		if f == nil {
			f = faultOf(ctx, err)
		}
		if f.fault != nil {
			exchangeOf(ctx).fault = f.fault
		}
		f.RequestID = exchangeOf(ctx).id
		return nil, f
	})
	served = registered(s.api.OpenAPI(), r)
	s.describe(served, r, bodyOf[I]())
}

// faultOf answers for errors that are not the caller's. A call that ran into
// its time limit is told so. A client that disconnected gets no answer.
func faultOf(ctx context.Context, err error) *failure {
	if hungUp(ctx) && errors.Is(err, context.Canceled) {
		return fail(http.StatusServiceUnavailable, "the client hung up before its turn")
	}
	f := asFault(ctx, err)
	if errors.Is(err, context.DeadlineExceeded) {
		return fail(http.StatusServiceUnavailable, "the environment took too long; the call was not made").after(time.Second)
	}
	return f
}

// registered finds the operation that huma keeps of a route.
func registered(doc *huma.OpenAPI, r route) *huma.Operation {
	item := doc.Paths[r.path]
	switch r.method {
	case http.MethodPost:
		return item.Post
	case http.MethodDelete:
		return item.Delete
	}
	return item.Get
}

// bodyOf is the type that the body of an input holds, or nil without one.
func bodyOf[I any]() reflect.Type {
	for field := range reflect.TypeFor[I]().Fields() {
		if b, ok := reflect.TypeAssert[described](reflect.New(field.Type)); ok {
			return b.holds()
		}
	}
	return nil
}

// wellAsked refuses a query that is not the operation's.
func (s *Server) wellAsked(ctx huma.Context, next func(huma.Context)) {
	u := ctx.URL()
	model := queryFlaws(ctx.Operation(), u.RawQuery)
	if model == nil {
		next(ctx)
		return
	}
	errs := make([]error, len(model.Errors))
	for i, e := range model.Errors {
		errs[i] = e
	}
	_ = huma.WriteErr(s.api, ctx, model.Status, model.Detail, errs...)
}

// queryFlaws reports a query that does not parse, that has a parameter which the
// operation does not take, or the same parameter twice: whichever value was
// taken, the client may have meant the other. It returns nil for other queries.
func queryFlaws(op *huma.Operation, raw string) *huma.ErrorModel {
	if raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return &huma.ErrorModel{Status: http.StatusBadRequest, Detail: "the query cannot be read: " + err.Error()}
	}
	var flaws []*huma.ErrorDetail
	for _, name := range slices.Sorted(maps.Keys(query)) {
		flaw := &huma.ErrorDetail{Location: "query." + name}
		switch n := len(query[name]); {
		case !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name }):
			flaw.Message = "unknown query parameter"
		case n > 1:
			flaw.Message = "the parameter is given " + strconv.Itoa(n) + " times; expected it once"
		default:
			continue
		}
		flaws = append(flaws, flaw)
	}
	if flaws == nil {
		return nil
	}
	return &huma.ErrorModel{Status: http.StatusUnprocessableEntity, Errors: flaws}
}

// compileBodies prepares the checks of all bodies, when every schema is known.
func (s *Server) compileBodies() error {
	all, err := json.Marshal(s.api.OpenAPI().Components)
	if err != nil {
		return fmt.Errorf("writing the schemas: %w", err)
	}
	for _, b := range s.bodies {
		text := fmt.Sprintf(`{"$ref":%q,"components":%s}`, b.ref, all)
		if b.check.schema, err = tools.Declare(b.ref, "", json.RawMessage(text)); err != nil {
			return fmt.Errorf("compiling the schema %s: %w", b.ref, err)
		}
	}
	return nil
}
