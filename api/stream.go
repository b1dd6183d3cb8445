package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"toolgym/grpo"
	"toolgym/grpo/objective"
	"toolgym/internal/atomicfile"
	"toolgym/tools"
)

// linesType is the media type of JSON lines.
const linesType = "application/x-ndjson"

func (s *Server) streamRoute() {
	handle(s, route{id: "score-stream", work: streamed, method: http.MethodPost, path: "/v1/score/stream", tag: "scores", role: Score,
		refusals: []int{http.StatusUnsupportedMediaType, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge},
		summary:  "Score completions line by line",
		text: "Takes JSON lines, one completion each, of at most 64 MiB, and answers each with a line in the same order: a group as soon as the next one begins " +
			"or the lines end. The members of a group are neighbours. What is held of lines and their scores counts towards the memory for scoring: where that is full the stream is refused, or breaks off. A line that cannot be read gives a line with a failure of kind harness that names its number. " +
			"Lines may be sent while answers are read. An answer that breaks off, without the end of a chunked body, was not finished.",
	}, s.scoreStream)
	op := s.api.OpenAPI().Paths["/v1/score/stream"].Post
	registry := s.api.OpenAPI().Components.Schemas
	line, answer := exampleLines()
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		linesType: {Schema: registry.Schema(reflect.TypeFor[grpo.Line](), true, ""), Example: line}}}
	op.Responses["200"].Description = "The scores, a line each."
	op.Responses["200"].Content = map[string]*huma.MediaType{
		linesType: {Schema: oneOf(registry, reflect.TypeFor[grpo.ScoredLine](), reflect.TypeFor[metricsLine]()), Example: answer}}
}

// metricsLine is the last line of an answer with metrics.
type metricsLine struct {
	Metrics grpo.Metrics `json:"metrics"`
}

type streamInput struct {
	ContentType   string `header:"Content-Type"`
	Coding        string `header:"Content-Encoding" hidden:"true"`
	Normalization string `query:"normalization" enum:"group,batch,none" doc:"What an advantage is divided by; default group. Under batch nothing is answered before the lines end."`
	Aggregation   string `query:"aggregation" enum:"sum_then_normalize,normalize_then_sum" doc:"Whether criteria are added up before they are normalized; default sum_then_normalize."`
	Loss          string `query:"loss" doc:"The loss of the metrics as JSON, as in POST /v1/score."`
	Rubric        string `query:"rubric" doc:"A rubric as JSON; default the server's."`
	Metrics       bool   `query:"metrics" doc:"Add a last line {\"metrics\":{…}}."`
}

// inParameter points a mistake in the JSON of a parameter at that parameter, and
// says in words at which field it is.
func inParameter(name string, err error) error {
	e, ok := errors.AsType[*tools.Error](err)
	if !ok {
		return err
	}
	moved := *e
	if moved.Where = name; e.Where != "" {
		moved.Message = strings.TrimPrefix(e.Where, "/") + ": " + e.Message
	}
	return &moved
}

func (s *Server) scoreStream(_ context.Context, in *streamInput) (*huma.StreamResponse, error) {
	if !plain(in.Coding) {
		return nil, fail(http.StatusUnsupportedMediaType, fmt.Sprintf("the lines are encoded as %.80q; expected them as they are", in.Coding))
	}
	if !isLines(in.ContentType) {
		return nil, fail(http.StatusUnsupportedMediaType, "the lines are of another kind; expected "+linesType)
	}
	scorer := s.scorer
	if in.Rubric != "" {
		var rubric grpo.Rubric
		err := rubric.UnmarshalJSON([]byte(in.Rubric))
		if err == nil {
			scorer, err = grpo.NewScorer(s.config.Specs, rubric)
		}
		if err != nil {
			return nil, inParameter("rubric", err)
		}
	}
	options := grpo.StreamOptions{Grouped: true, Normalization: objective.Normalization(in.Normalization), Aggregation: objective.Aggregation(in.Aggregation), Observe: s.metrics.reward}
	if in.Loss != "" {
		options.Loss = new(objective.Config)
		err := options.Loss.UnmarshalJSON([]byte(in.Loss))
		if err == nil {
			err = options.Loss.Validate()
		}
		if err != nil {
			return nil, inParameter("loss", err)
		}
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		release, err := s.shares.streams.Take(exchangeOf(ctx.Context()).caller.name, 1)
		if err != nil {
			s.refuse(ctx, err)
			return
		}
		defer release()
		defer func() { s.uncharge(ctx.Context(), exchangeOf(ctx.Context()).charged) }()
		w := &flow{ctx: ctx, control: http.NewResponseController(humaecho.Unwrap(ctx).Response()), patience: s.config.StreamTimeout}
		s.answerStream(ctx, w, scorer, options, in.Metrics)
	}}, nil
}

// answerStream scores the lines. What goes wrong before the first answer is a
// problem document; later the answer breaks off.
func (s *Server) answerStream(ctx huma.Context, w *flow, scorer *grpo.Scorer, o grpo.StreamOptions, withMetrics bool) {
	_ = w.control.EnableFullDuplex() // HTTP/2 is so by itself
	var unjudged causes
	o.Failed = unjudged.line
	defer func() { s.logCauses(ctx.Context(), &unjudged) }()
	o.Turn = func(ctx context.Context, score func()) error {
		turn := s.newTurn(ctx, s.config.StreamTimeout) // a stream that has begun waits, and is not refused
		if err := turn.Begin(ctx); err != nil {
			return err
		}
		defer turn.End()
		score()
		return nil
	}
	o.Charge = func(bytes int64) error { return s.charge(ctx.Context(), bytes) }
	o.Release = func(bytes int64) { s.uncharge(ctx.Context(), bytes) }
	metrics, err := scorer.Stream(ctx.Context(), w, w, o)
	if err == nil && withMetrics {
		err = json.NewEncoder(w).Encode(metricsLine{metrics})
	}
	if err == nil {
		w.begin() // the lines may have been none
		return
	}
	full := failureOf(nil, err) // there is no memory for the lines
	ours := w.lost() == nil && !hungUp(ctx.Context()) && full == nil
	if ours {
		exchangeOf(ctx.Context()).fault = err
	}
	switch {
	case w.begun:
		w.breakOff()
	case full != nil:
		s.refuse(ctx, err)
	case errors.Is(w.lost(), os.ErrDeadlineExceeded):
		_ = huma.WriteErr(s.api, ctx, http.StatusRequestTimeout, "the next line took too long to arrive")
	case ours && atomicfile.IsFull(err):
		s.refuse(ctx, err)
	case ours:
		_ = huma.WriteErr(s.api, ctx, http.StatusInternalServerError, seeLog)
	default:
		_ = huma.WriteErr(s.api, ctx, http.StatusBadRequest, "the lines broke off")
	}
}

// isLines reports whether a content type, which may be absent, is that of JSON
// lines. A page elsewhere cannot send these without asking first.
func isLines(kind string) bool {
	media, _, err := mime.ParseMediaType(cmp.Or(kind, linesType))
	return err == nil && slices.Contains([]string{linesType, "application/ndjson", "application/jsonl", "application/json"}, media)
}

// A flow is the two directions of a stream, for a goroutine each. Every read and
// every write has its own time limit, so that a stream may last, and a client
// that neither sends nor reads does not. The limits are the connection's, and
// go by the clock of the machine.
type flow struct {
	ctx      huma.Context
	control  *http.ResponseController
	patience time.Duration

	reading sync.Mutex // the limit of the read, against its being set again
	stopped bool

	// These belong to the one who reads, and to the one who writes.
	unread, unwritten error
	begun             bool // something was answered
}

var _ io.ReadWriter = (*flow)(nil)

// Read reads from the client.
func (f *flow) Read(to []byte) (int, error) {
	if err := f.wait(); err != nil {
		return 0, err
	}
	n, err := f.ctx.BodyReader().Read(to)
	switch {
	case errors.Is(err, io.EOF):
		// The server watches the connection from here on, and a limit would look
		// to it as if the client had gone.
		_ = f.control.SetReadDeadline(time.Time{})
	case err != nil:
		f.unread = err
	}
	return n, err
}

// wait sets the limit of the next read.
func (f *flow) wait() error {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.stopped {
		return io.ErrClosedPipe
	}
	_ = f.control.SetReadDeadline(time.Now().Add(f.patience)) // a test's recorder has no limits
	return nil
}

// Write answers the client at once. When it cannot, nothing more is read.
func (f *flow) Write(text []byte) (int, error) {
	f.begin()
	_ = f.control.SetWriteDeadline(time.Now().Add(f.patience))
	n, err := f.ctx.BodyWriter().Write(text)
	if err == nil {
		err = f.control.Flush()
	}
	if err != nil {
		f.unwritten = err
		f.stop()
		return n, fmt.Errorf("answering: %w", err)
	}
	return n, nil
}

func (f *flow) stop() {
	f.reading.Lock()
	defer f.reading.Unlock()
	f.stopped = true
	_ = f.control.SetReadDeadline(time.Unix(1, 0))
}

// begin sends the head of the answer.
func (f *flow) begin() {
	if f.begun {
		return
	}
	f.begun = true
	f.ctx.SetHeader("Content-Type", linesType)
	f.ctx.SetStatus(http.StatusOK)
}

// breakOff keeps the answer from ending as if it were whole: its last chunk can
// not be sent any more, and the connection is closed.
func (f *flow) breakOff() { _ = f.control.SetWriteDeadline(time.Unix(1, 0)) }

// lost is why the connection failed, nil when it did not. It is asked when both
// have ended.
func (f *flow) lost() error {
	if f.unwritten != nil {
		return f.unwritten
	}
	return f.unread
}
