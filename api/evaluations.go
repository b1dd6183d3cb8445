package api

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"toolgym/api/assessment"
	"toolgym/grpo/eval"
	formats "toolgym/grpo/eval/report"
	"toolgym/internal/evaluation"
	"toolgym/internal/modelserver"
	"toolgym/internal/quota"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// evalRoutes are evaluations of language models.
func (s *Server) evalRoutes() {
	const tag = "evaluations"
	unknown := []int{http.StatusNotFound, http.StatusConflict}
	handle(s, route{id: "begin-evaluation", work: heavy, method: http.MethodPost, path: "/v1/evals", tag: tag, role: Train, status: http.StatusCreated,
		summary: "Evaluate a model", text: "Says what toolgym eval says by its flags, and does the same. With resume, what is missing of the named run is played. " +
			"Models are those of the Ollama servers that this server was started with; on the route agent, idle, random and oracle play without any.",
		refusals: unknown, request: evaluation.Request{Model: "llama3.2:3b", Envs: []string{"arithmetic"}, N: 10}, answer: exampleEval()}, s.beginEval)
	handle(s, route{id: "list-evaluations", method: http.MethodGet, path: "/v1/evals", tag: tag, role: Train, refusals: []int{http.StatusConflict},
		summary: "The evaluations, the newest first", answer: evalList{Evals: []assessment.State{exampleEval()}}}, s.listEvals)
	handle(s, route{id: "get-evaluation", method: http.MethodGet, path: "/v1/evals/{id}", tag: tag, role: Train, refusals: unknown,
		summary: "How an evaluation stands", answer: exampleEval()}, s.getEval)
	handle(s, route{id: "cancel-evaluation", method: http.MethodDelete, path: "/v1/evals/{id}", tag: tag, role: Train, status: http.StatusNoContent, refusals: unknown,
		summary: "Cancel an evaluation, or delete one that does not run", text: "What a cancelled one has played is kept, and it can be gone on with."}, s.cancelEval)
	registry := s.api.OpenAPI().Components.Schemas
	s.raw(route{id: "watch-evaluation", path: "/v1/evals/{id}/events", tag: tag, role: Train, refusals: unknown, parameters: eventParameters(),
		summary: "The trials as they come, as Server-Sent Events", text: "An event is a trial, in JSON; its id is its number. Last-Event-ID goes on behind an event. The last event is named end and tells how the evaluation stands."},
		[]content{{kind: eventsType, item: eventSchema(registry, reflect.TypeFor[eval.Trial](), reflect.TypeFor[assessment.State](), reflect.TypeFor[unknownState]()), example: "id: 1\ndata: {\"task\":\"arithmetic/0/1\"}\n\n"}}, s.watchEval)
	s.raw(route{id: "report-evaluation", path: "/v1/evals/{id}/report", tag: tag, role: Train, refusals: unknown,
		summary: "The report of an evaluation", parameters: []*huma.Param{{Name: "format", In: "query", Description: "Its form; csv and junit list the trials.", Schema: reportFormats()}},
		text: "In all formats but csv and junit the model is compared with agents that play without a language model. While these play, which takes a while for many trials, the report is unavailable, with a Retry-After."},
		reportContents(registry), s.reportEval)
	handle(s, route{id: "compare-evaluations", work: heavy, method: http.MethodGet, path: "/v1/evals/{id}/compare", tag: tag, role: Train, refusals: unknown,
		summary: "Whether the difference between two evaluations is real", text: "Paired, task by task, over the tasks that both have. The difference is the other's success rate minus this one's.",
		answer: exampleComparison()}, s.compareEvals)
	s.raw(route{id: "export-evaluation", path: "/v1/evals/{id}/export.ndjson", tag: tag, role: Train, refusals: unknown,
		summary: "Everything that is kept of an evaluation", text: "The run, then a line a trial, as toolgym runs export writes them."},
		[]content{{kind: linesType, schema: oneOf(registry, reflect.TypeFor[eval.Run](), reflect.TypeFor[eval.Record]()), example: exampleEval().Run}}, s.exportEval)
}

// evalList is the answer of GET /v1/evals.
type evalList struct {
	Evals []assessment.State `json:"evals"`
}

func exampleEval() assessment.State {
	state := assessment.State{State: assessment.Running}
	state.Run = eval.Run{Name: "llama3.2 2026-05-04", Created: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Model: "llama3.2:3b", Digest: "sha256:a80c4f17acd5",
		Routes: []string{evaluation.RouteChat}, Trials: 1, Options: []byte(`{"num_ctx":4096}`), Tasks: []eval.RunTask{}}
	state.Planned, state.Kept = 30, 12
	return state
}

func exampleComparison() eval.Comparison {
	return eval.Comparison{Runs: [2]string{"small", "large"}, Tasks: 30, Rates: [2]float64{0.2, 0.9}, Difference: 0.7, Interval: [2]float64{0.53, 0.87},
		Test: "mcnemar", P: 9.5e-7, Significant: true, Better: new("large"),
		Sentence: "large passes more often than small: 90.0 % and 20.0 % of 30 shared tasks, a difference of 70.0 points (53.0 to 87.0), p < 0.001."}
}

// openEvals makes the desk, where there is a database to keep evaluations in.
func (s *Server) openEvals() {
	if s.ledger.store == nil {
		return
	}
	s.beside = evaluation.NewReferences()
	s.evals = assessment.New(assessment.Config{Room: s.evaluationRoom(), Busy: quota.Part(int64(s.config.MaxEvals), s.config.TokenShare), Kept: mostKeptRuns, Logger: s.config.Logger})
}

// evaluationRoom is where evaluations are kept and judged.
func (s *Server) evaluationRoom() evaluation.Room {
	return evaluation.Room{Specs: s.config.Specs, Store: s.ledger.store, Rubric: s.config.Rubric, Now: s.config.Now, Logger: s.config.Logger}
}

// evaluations is where they are; without a database there are none.
func (s *Server) evaluations() (*assessment.Desk, error) {
	if s.evals == nil {
		return nil, &tools.Error{Code: tools.Conflict, Message: "this server keeps everything in memory, and no evaluations", Want: "a server with a data folder"}
	}
	return s.evals, nil
}

type evalInput struct{ Sent body[evaluation.Request] }

func (s *Server) beginEval(ctx context.Context, in *evalInput) (*created[assessment.State], error) {
	desk, err := s.evaluations()
	if err != nil {
		return nil, err
	}
	request := in.Sent.value
	if err := s.mayResume(ctx, desk, request); err != nil {
		return nil, err
	}
	if err := s.mayAsk(ctx, &request); err != nil {
		return nil, err
	}
	request.Owner = exchangeOf(ctx).caller.name
	state, err := desk.Begin(ctx, request)
	if err != nil {
		return nil, inFields(err, map[string]string{"env": "envs", "level": "levels"})
	}
	return &created[assessment.State]{Location: "/v1/evals/" + escapePath(state.Name), Body: state}, nil
}

// mayAsk keeps a request to the servers that this one was started with: it is
// not to be sent to addresses that a client makes up.
func (s *Server) mayAsk(ctx context.Context, request *evaluation.Request) error {
	if request.OpenAI != "" {
		return &tools.Error{Code: tools.Forbidden, Where: "openai", Message: "this server asks only the Ollama servers that it was started with", Want: "no openai, or toolgym eval on the command line"}
	}
	request.Ollama = slices.Clone(request.Ollama)
	for i, address := range request.Ollama {
		at := slices.IndexFunc(s.config.Ollama, func(own string) bool { return own == address || modelserver.Display(own) == address })
		if at >= 0 {
			request.Ollama[i] = s.config.Ollama[at] // with the credentials that this server was started with
			continue
		}
		return &tools.Error{Code: tools.Forbidden, Where: "ollama", Message: "this server was not started with that Ollama server", Want: "none, or some of those of --ollama"}
	}
	if len(request.Ollama) == 0 {
		request.Ollama = s.config.Ollama
	}
	if len(request.Ollama) > 0 || s.asksNobody(ctx, *request) {
		return nil
	}
	return &tools.Error{Code: tools.Conflict, Where: "ollama", Message: "this server was started without an Ollama server", Want: "the route agent, or toolgym serve --ollama URL"}
}

// asksNobody reports whether an agent plays: the request's, or that of the run
// which it goes on with.
func (s *Server) asksNobody(ctx context.Context, request evaluation.Request) bool {
	if request.Resume && request.Route == "" {
		run, err := s.ledger.store.Run(ctx, request.Run)
		return err == nil && slices.Equal(run.Routes, []string{evaluation.RouteAgent})
	}
	return request.Route == evaluation.RouteAgent
}

func (s *Server) listEvals(ctx context.Context, _ *struct{}) (*reply[evalList], error) {
	desk, err := s.evaluations()
	if err != nil {
		return nil, err
	}
	all, err := desk.List(ctx)
	if err != nil {
		return nil, err
	}
	list := evalList{Evals: []assessment.State{}}
	for _, state := range all {
		if exchangeOf(ctx).caller.owns(state.Owner) {
			list.Evals = append(list.Evals, state)
		}
	}
	return answered(list), nil
}

// findEval is the desk, where it has an evaluation of that name which is the
// caller's. Of other people's nothing is said.
func (s *Server) findEval(ctx context.Context, name string) (*assessment.Desk, error) {
	desk, err := s.evaluations()
	if err != nil {
		return nil, err
	}
	owner, err := desk.Owner(ctx, name)
	if err != nil {
		return nil, err
	}
	if !exchangeOf(ctx).caller.owns(owner) {
		return nil, assessment.Missing(name)
	}
	return desk, nil
}

// mayResume keeps a request from going on with what is somebody else's, or not
// there. With a model, what is not there begins: it was stopped before it did.
func (s *Server) mayResume(ctx context.Context, desk *assessment.Desk, request evaluation.Request) error {
	if !request.Resume || request.Run == "" {
		return nil
	}
	owner, err := desk.Owner(ctx, request.Run)
	switch {
	case err == nil && exchangeOf(ctx).caller.owns(owner), err != nil && refusal.Is(err, tools.NotFound) && request.Model != "":
		return nil
	case err == nil || refusal.Is(err, tools.NotFound):
		return refusal.Move("run", assessment.Missing(request.Run))
	}
	return err
}

type evalPath struct {
	ID string `path:"id" doc:"The name of an evaluation."`
}

func (s *Server) getEval(ctx context.Context, in *evalPath) (*reply[assessment.State], error) {
	desk, err := s.findEval(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	state, err := desk.Find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return answered(state), nil
}

func (s *Server) cancelEval(ctx context.Context, in *evalPath) (*struct{}, error) {
	desk, err := s.findEval(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return nil, desk.Cancel(ctx, in.ID)
}

func (s *Server) watchEval(c echo.Context) error {
	ctx := c.Request().Context()
	desk, err := s.findEval(ctx, c.Param("id"))
	if err != nil {
		return edgeFailure(err)
	}
	events, err := desk.Events(ctx, c.Param("id"))
	if err != nil {
		return edgeFailure(err)
	}
	return s.sendEvents(c, events, func() (string, []byte) {
		state, err := desk.Find(ctx, c.Param("id"))
		return "end", encoded(state, err)
	})
}

// encoded is a value as the data of an event; nothing is told of an error, which
// the next request will meet as well.
func encoded(v any, err error) []byte {
	if err == nil {
		if text, err := json.Marshal(v); err == nil {
			return text
		}
	}
	return []byte("{}")
}

// escapePath writes a name as one segment of a path.
func escapePath(name string) string { return url.PathEscape(name) }

// mediaTypes are those of the formats of a report.
func mediaTypes() map[string]string {
	return map[string]string{"text": "text/plain; charset=utf-8", "md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8",
		"json": "application/json", "csv": "text/csv; charset=utf-8", "junit": "application/xml"}
}

// reportContents are the forms of a report as the document shows them.
func reportContents(registry huma.Registry) []content {
	list := []content{{kind: mediaTypes()["json"], schema: registry.Schema(reflect.TypeFor[formats.Report](), true, ""), example: exampleReport()}}
	properties := registry.SchemaFromRef(list[0].schema.Ref).Properties
	for name, property := range properties {
		if name != "run" && name != "not_computed" { // a field that cannot be encoded is null and listed there
			properties[name] = orNull(property)
		}
	}
	for _, c := range []content{{kind: mediaTypes()["text"], example: "llama3.2:3b: 0.400 …\n"}, {kind: mediaTypes()["md"], example: "# llama3.2:3b\n…"}, {kind: mediaTypes()["html"], example: "<!doctype html>…"},
		{kind: mediaTypes()["csv"], example: "run,model,…\n"}, {kind: mediaTypes()["junit"], example: "<testsuites>…</testsuites>"}} {
		c.kind, _, _ = strings.Cut(c.kind, ";")
		list = append(list, c)
	}
	return list
}

// reportFormats are the names of the formats, the default first.
func reportFormats() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{"json", "text", "md", "html", "csv", "junit"}, Default: "json"}
}

func exampleReport() formats.Report {
	run := exampleEval().Run
	report, err := formats.New(run, nil, nil, rand.NewPCG(1, 1))
	if err != nil {
		panic("api: the example of a report cannot be made: " + err.Error())
	}
	return report
}

// reportEval sends a report, whole or not at all.
func (s *Server) reportEval(c echo.Context) error {
	format := c.QueryParam("format")
	if format == "" {
		format = "json"
	}
	kind, known := mediaTypes()[format]
	if !known {
		return edgeFailure(refusal.New("format", "text, md, html, json, csv or junit", "unknown format %.40q", format))
	}
	if _, err := s.findEval(c.Request().Context(), c.Param("id")); err != nil {
		return edgeFailure(err)
	}
	patience := s.config.CallTimeout
	byTrial := format == string(formats.CSV) || format == string(formats.JUnit) // and without the agents beside
	if byTrial {
		patience = 0
	}
	report, whole, err := s.beside.Report(c.Request().Context(), s.evaluationRoom(), c.Param("id"), patience)
	if err == nil && !whole && !byTrial {
		err = &tools.Error{Code: tools.Unavailable, Message: "the agents beside the model still play its tasks", Want: "the same again in a while"}
	}
	if err != nil {
		return edgeFailure(err)
	}
	var text bytes.Buffer
	if err := report.Write(&text, formats.Format(format)); err != nil {
		return edgeFailure(err)
	}
	// The page brings its own style, and what models wrote, which must do nothing.
	c.Response().Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'")
	return c.Blob(http.StatusOK, kind, text.Bytes())
}

type comparePath struct {
	ID   string `path:"id" doc:"The name of an evaluation."`
	With string `query:"with" required:"true" minLength:"1" doc:"The name of another."`
}

func (s *Server) compareEvals(ctx context.Context, in *comparePath) (*reply[eval.Comparison], error) {
	if _, err := s.findEval(ctx, in.ID); err != nil {
		return nil, err
	}
	if _, err := s.findEval(ctx, in.With); err != nil {
		return nil, refusal.Move("with", err)
	}
	comparison, err := s.evaluationRoom().Compare(ctx, in.ID, in.With)
	if err != nil {
		return nil, err
	}
	return answered(comparison), nil
}

// exportEval sends the run and its trials, a line each. One trial at a time is in
// memory.
func (s *Server) exportEval(c echo.Context) error {
	ctx, name := c.Request().Context(), c.Param("id")
	if _, err := s.findEval(ctx, name); err != nil {
		return edgeFailure(err)
	}
	run, err := s.ledger.store.Run(ctx, name)
	if err != nil {
		return edgeFailure(err)
	}
	s.unhurried(c)
	c.Response().Header().Set(echo.HeaderContentType, "application/x-ndjson")
	lines := json.NewEncoder(c.Response())
	lines.SetEscapeHTML(false)
	if err := lines.Encode(run); err != nil {
		return sending(ctx, err)
	}
	return sending(ctx, s.ledger.store.EachRecord(ctx, name, "", func(r eval.Record) error { return lines.Encode(r) }))
}
