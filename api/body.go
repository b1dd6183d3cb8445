package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// A body is a request's JSON document. As a field of an operation's input it
// reads itself before the handler runs: one strict JSON value, checked against
// the schema that the OpenAPI document shows, by the validator that checks a
// tool's arguments. huma would read it with encoding/json twice, by way of
// float64, taking Name for name and the last of two equal keys.
type body[T any] struct{ value T }

var _ huma.Resolver = (*body[struct{}])(nil)

// described is what the registration needs to know of a body, whatever it
// holds.
type described interface{ holds() reflect.Type }

func (b *body[T]) holds() reflect.Type { return reflect.TypeFor[T]() }

// Resolve reads the body. What is wrong with it comes back as flaws.
func (b *body[T]) Resolve(ctx huma.Context) []error {
	text, errs := textOf(ctx)
	if len(errs) > 0 {
		return errs
	}
	if err := json.Unmarshal(text, &b.value); err != nil {
		return []error{unfit(err)}
	}
	return nil
}

// A checked is a body that was checked as any other, and that its handler
// decodes: it can say where in a list of groups a schema does not compile, and
// compile equal ones once.
type checked[T any] struct{ text []byte }

var _ huma.Resolver = (*checked[struct{}])(nil)

func (b *checked[T]) holds() reflect.Type { return reflect.TypeFor[T]() }

// Resolve reads the body and leaves it as it is.
func (b *checked[T]) Resolve(ctx huma.Context) (errs []error) {
	b.text, errs = textOf(ctx)
	return errs
}

// textOf reads a body and checks it against its operation's schema.
func textOf(ctx huma.Context) ([]byte, []error) {
	check := ctx.Operation().Metadata[checkKey].(*bodyCheck)
	text, refusal := check.read(ctx)
	if refusal != nil {
		return nil, []error{refusal}
	}
	if err := exchangeOf(ctx.Context()).turn.Begin(ctx.Context()); err != nil {
		ctx.SetHeader("Retry-After", "1")
		return nil, []error{&flawed{http.StatusServiceUnavailable, "the request had no turn; too much is being computed", ""}}
	}
	return text, check.validate(ctx.Context(), text)
}

// unfit reports a value that is valid but does not fit its Go type: an integer
// beyond 64 bits, or written as 1e3.
func unfit(err error) *flawed {
	f := &flawed{status: http.StatusUnprocessableEntity, message: "the value does not fit"}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		f.pointer = "#/" + strings.ReplaceAll(e.Field, ".", "/")
		f.message = fmt.Sprintf("%s does not fit; expected a %s in plain digits", e.Value, e.Type)
	}
	return f
}

// A flawed is one thing that is wrong with a body; huma collects them.
type flawed struct {
	status  int
	message string
	pointer string // a JSON pointer as a fragment; empty for the whole
}

var (
	_ huma.StatusError   = (*flawed)(nil)
	_ huma.ErrorDetailer = (*flawed)(nil)
)

func (f *flawed) Error() string  { return f.message }
func (f *flawed) GetStatus() int { return f.status }
func (f *flawed) ErrorDetail() *huma.ErrorDetail {
	return &huma.ErrorDetail{Message: f.message, Location: f.pointer}
}

// A bodyCheck is what one operation demands of its body.
type bodyCheck struct {
	limit  int64
	schema tools.Tool // compiled; a body is checked as a tool's arguments are
	fields *huma.Schema
	number func(value any) (n int, pointer string) // of completions, nil where a body has none
	most   int
}

// bytesPerValue is the least that the values of a large body take on average:
// log-probabilities are about as long.
const bytesPerValue = 16

// checkKey is where an operation's metadata hold its bodyCheck.
const checkKey = "body"

// read takes the bytes off the wire, within the limits of size and of the
// server's ReadTimeout. That timeout would go on to cancel the context of a
// handler that takes longer, so it is lifted when the body is there; not before,
// since net/http reads on after an answer, for whatever is left of the body.
func (k *bodyCheck) read(ctx huma.Context) ([]byte, *flawed) {
	if coding := ctx.Header("Content-Encoding"); !plain(coding) {
		return nil, &flawed{http.StatusUnsupportedMediaType, fmt.Sprintf("the body is encoded as %.80q; expected it as it is", coding), ""}
	}
	if kind := ctx.Header("Content-Type"); !isJSON(kind) {
		return nil, &flawed{http.StatusUnsupportedMediaType, fmt.Sprintf("the body is %.80q; expected application/json", kind), ""}
	}
	text, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), k.limit+1))
	timeout := net.Error(nil)
	switch {
	case int64(len(text)) > k.limit:
		return nil, &flawed{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is over %d bytes", k.limit), ""}
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, &flawed{http.StatusRequestTimeout, "the body took too long to arrive", ""}
	case err != nil:
		return nil, &flawed{http.StatusBadRequest, "the body broke off", ""}
	}
	_ = ctx.SetReadDeadline(time.Time{}) // a ResponseWriter without deadlines has none to lift
	return text, nil
}

// plain reports whether a content coding, which may be absent, is none. What is
// packed small may be of any size: nothing is unpacked here.
func plain(coding string) bool { return coding == "" || strings.EqualFold(coding, "identity") }

// isJSON reports whether a content type, which may be absent, is JSON.
func isJSON(kind string) bool {
	if kind == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(kind)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}

// validate reports everything that is wrong with the text.
func (k *bodyCheck) validate(ctx context.Context, text []byte) []error {
	limits := strictjson.Defaults()
	limits.Values = max(limits.Values, len(text)/bytesPerValue)
	value, err := limits.Decode(text)
	if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Kind == strictjson.TooLarge {
		return []error{&flawed{http.StatusRequestEntityTooLarge, "the body holds " + err.Error(), ""}}
	}
	if err != nil {
		return []error{&flawed{http.StatusBadRequest, "the body is not JSON: " + err.Error(), ""}}
	}
	if k.number != nil {
		if n, pointer := k.number(value); n > k.most {
			return []error{&flawed{http.StatusRequestEntityTooLarge, fmt.Sprintf("%d completions and groups; expected at most %d in a request", n, k.most), pointer}}
		}
	}
	var errs []error
	violations, err := k.schema.ValidateWithin(ctx, nil, value) // the schema is our own
	if err != nil {
		return []error{err}
	}
	for _, v := range violations {
		errs = append(errs, k.flaws(value, v)...)
	}
	return errs
}

// flaws locates a violation. The validator reports a missing or unknown field
// at the object around it; here each is pointed at by its own name.
func (k *bodyCheck) flaws(value any, v tools.Violation) []error {
	object, _ := value.(map[string]any)
	var errs []error
	add := func(message, pointer string) {
		errs = append(errs, &flawed{http.StatusUnprocessableEntity, message, pointer})
	}
	switch {
	case v.Pointer == "" && v.Keyword == "additionalProperties":
		known := slices.Sorted(maps.Keys(k.fields.Properties))
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if k.fields.Properties[name] == nil {
				add(fmt.Sprintf("unknown field %.80q; expected only %s", name, strings.Join(known, ", ")), "#"+strictjson.Pointer(fmt.Sprintf("%.80s", name)))
			}
		}
	case v.Pointer == "" && v.Keyword == "required":
		for _, name := range k.fields.Required {
			if _, ok := object[name]; !ok {
				add("the field is missing", "#/"+name)
			}
		}
	default:
		add(v.Message, "#"+v.Pointer)
	}
	return errs
}
