package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"toolgym/api/assessment"
	"toolgym/grpo/eval"
	"toolgym/internal/evaluation"
	"toolgym/tools"
)

// evalRoutes are evaluations of language models.
func (s *Server) evalRoutes() {
	const tag = "evaluations"
	unknown := []int{http.StatusNotFound, http.StatusConflict}
	handle(s, route{id: "begin-evaluation", method: http.MethodPost, path: "/v1/evals", tag: tag, role: Train, status: http.StatusCreated,
		summary: "Evaluate a model", text: "Says what toolgym eval says by its flags, and does the same. With resume, what is missing of the named run is played. " +
			"Models are those of the Ollama servers that this server was started with.",
		refusals: unknown, request: evaluation.Request{Model: "llama3.2:3b", Envs: []string{"arithmetic"}, N: 10}, answer: exampleEval()}, s.beginEval)
	handle(s, route{id: "list-evaluations", method: http.MethodGet, path: "/v1/evals", tag: tag, role: Train, refusals: unknown,
		summary: "The evaluations, the newest first", answer: evalList{Evals: []assessment.State{exampleEval()}}}, s.listEvals)
	handle(s, route{id: "get-evaluation", method: http.MethodGet, path: "/v1/evals/{id}", tag: tag, role: Train, refusals: unknown,
		summary: "How an evaluation stands", answer: exampleEval()}, s.getEval)
	handle(s, route{id: "cancel-evaluation", method: http.MethodDelete, path: "/v1/evals/{id}", tag: tag, role: Train, status: http.StatusNoContent, refusals: unknown,
		summary: "Cancel an evaluation, or delete one that does not run", text: "What a cancelled one has played is kept, and it can be gone on with."}, s.cancelEval)
	s.raw(route{id: "watch-evaluation", path: "/v1/evals/{id}/events", tag: tag, role: Train, refusals: unknown,
		summary: "The trials as they come, as Server-Sent Events", text: "An event is a trial, in JSON; its id is its number. Last-Event-ID goes on behind an event. The last event is named end and tells how the evaluation stands."},
		"text/event-stream", "id: 1\ndata: {\"task\":\"arithmetic/0/1\"}\n\n", s.watchEval)
	s.raw(route{id: "report-evaluation", path: "/v1/evals/{id}/report", tag: tag, role: Train, refusals: unknown,
		summary: "The report of an evaluation", text: "The parameter format is one of text, md, html, json (the default), csv and junit.", answer: "{}"},
		"application/json", "{}", s.reportEval)
	s.raw(route{id: "export-evaluation", path: "/v1/evals/{id}/export.ndjson", tag: tag, role: Train, refusals: unknown,
		summary: "Everything that is kept of an evaluation", text: "The run, then a line a trial, as toolgym runs export writes them."},
		"application/x-ndjson", "{}\n", s.exportEval)
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

// openEvals makes the desk, where there is a database to keep evaluations in.
func (s *Server) openEvals() {
	if s.ledger.store == nil {
		return
	}
	s.evals = assessment.New(assessment.Config{Room: evaluation.Room{Specs: s.config.Specs, Store: s.ledger.store, Rubric: s.config.Rubric, Now: s.config.Now},
		Limit: s.config.MaxEvals, Logger: s.config.Logger})
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
	if err := s.mayAsk(&request); err != nil {
		return nil, err
	}
	state, err := desk.Begin(ctx, request)
	if err != nil {
		return nil, err
	}
	return &created[assessment.State]{Location: "/v1/evals/" + escapePath(state.Name), Body: state}, nil
}

// mayAsk keeps a request to the servers that this one was started with: it is
// not to be sent to addresses that a client makes up.
func (s *Server) mayAsk(request *evaluation.Request) error {
	if request.OpenAI != "" {
		return &tools.Error{Code: tools.Forbidden, Where: "openai", Message: "this server asks only the Ollama servers that it was started with", Want: "no openai, or toolgym eval on the command line"}
	}
	for _, address := range request.Ollama {
		if !slices.Contains(s.config.Ollama, address) {
			return &tools.Error{Code: tools.Forbidden, Where: "ollama", Message: "this server was not started with that Ollama server", Want: "none, or some of those of --ollama"}
		}
	}
	if len(request.Ollama) == 0 {
		request.Ollama = s.config.Ollama
	}
	return nil
}

func (s *Server) listEvals(ctx context.Context, _ *struct{}) (*reply[evalList], error) {
	desk, err := s.evaluations()
	if err != nil {
		return nil, err
	}
	list, err := desk.List(ctx)
	if err != nil {
		return nil, err
	}
	return answered(evalList{Evals: list}), nil
}

type evalPath struct {
	ID string `path:"id" doc:"The name of an evaluation."`
}

func (s *Server) getEval(ctx context.Context, in *evalPath) (*reply[assessment.State], error) {
	desk, err := s.evaluations()
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
	desk, err := s.evaluations()
	if err != nil {
		return nil, err
	}
	return nil, desk.Cancel(ctx, in.ID)
}

func (s *Server) watchEval(c echo.Context) error {
	desk, err := s.evaluations()
	if err != nil {
		return edgeFailure(err)
	}
	ctx := c.Request().Context()
	events, err := desk.Events(ctx, c.Param("id"))
	if err != nil {
		return edgeFailure(err)
	}
	return s.sendEvents(c, events, func() (string, []byte) {
		state, err := desk.Find(ctx, c.Param("id"))
		return "end", encoded(state, err)
	})
}
