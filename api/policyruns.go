package api

import (
	"context"
	"net/http"
	"path/filepath"
	"reflect"

	"github.com/labstack/echo/v4"

	"toolgym/api/training"
	"toolgym/internal/quota"
	"toolgym/policy/telemetry"
)

// policyRoutes are the trainings of the policy.
func (s *Server) policyRoutes() {
	const tag = "policy"
	full, ended := []int{http.StatusNotFound}, []int{http.StatusNotFound, http.StatusConflict}
	handle(s, route{id: "start-policy-run", work: heavy, method: http.MethodPost, path: "/v1/policy/runs", tag: tag, role: Train, status: http.StatusCreated,
		summary: "Start a training of the policy", text: "Every field may be absent. The run goes on after a restart of the server, once it is resumed. " +
			"While the disk of the server is full, the run is paused, with the reason in error; it continues by itself, or when it is resumed.",
		refusals: full, request: training.Start{Env: "arithmetic", Algo: "grpo", Seed: 1}, answer: exampleRun()}, s.startRun)
	handle(s, route{id: "list-policy-runs", method: http.MethodGet, path: "/v1/policy/runs", tag: tag, role: Train,
		summary: "The trainings, the newest first", answer: policyRuns{Runs: []training.State{exampleRun()}}}, s.listRuns)
	handle(s, route{id: "get-policy-run", method: http.MethodGet, path: "/v1/policy/runs/{id}", tag: tag, role: Train,
		summary: "How a training stands", refusals: full, answer: exampleRun()}, s.getRun)
	handle(s, route{id: "cancel-policy-run", method: http.MethodDelete, path: "/v1/policy/runs/{id}", tag: tag, role: Train, status: http.StatusNoContent,
		summary: "Cancel a training, or delete one that has ended", text: "A run that is under way ends after its update and stays, as cancelled, with its checkpoint. One that has ended is deleted.",
		refusals: full}, s.cancelRun)
	handle(s, route{id: "pause-policy-run", method: http.MethodPost, path: "/v1/policy/runs/{id}/pause", tag: tag, role: Train,
		summary: "Hold a training", text: "It waits at the end of the update that it is at.", refusals: ended, answer: exampleRun()}, s.pauseRun)
	handle(s, route{id: "resume-policy-run", method: http.MethodPost, path: "/v1/policy/runs/{id}/resume", tag: tag, role: Train,
		summary: "Let a training go on", refusals: ended, answer: exampleRun()}, s.resumeRun)
	registry := s.api.OpenAPI().Components.Schemas
	s.raw(route{id: "watch-policy-run", path: "/v1/policy/runs/{id}/events", tag: tag, role: Train, refusals: full, parameters: eventParameters(),
		summary: "The telemetry as it comes, as Server-Sent Events", text: "An event is the record of an update, in JSON; its id is its number. Last-Event-ID goes on behind an event. The last event is named end and tells how the run stands."},
		[]content{{kind: eventsType, item: eventSchema(registry, reflect.TypeFor[telemetry.Record](), reflect.TypeFor[training.State](), reflect.TypeFor[unknownState]()), example: "id: 1\ndata: {\"update\":1}\n\n"}}, s.watchRun)
	s.raw(route{id: "policy-run-plot-svg", path: "/v1/policy/runs/{id}/plot.svg", tag: tag, role: Train, refusals: full, summary: "The learning curves, as SVG"},
		[]content{{kind: "image/svg+xml", example: "<svg></svg>"}}, s.plotRun("svg", "image/svg+xml"))
	s.raw(route{id: "policy-run-plot-png", path: "/v1/policy/runs/{id}/plot.png", tag: tag, role: Train, refusals: full, summary: "The learning curves, as PNG"},
		[]content{{kind: "image/png", example: ""}}, s.plotRun("png", "image/png"))
	s.raw(route{id: "policy-run-telemetry", path: "/v1/policy/runs/{id}/telemetry.csv", tag: tag, role: Train, refusals: full, summary: "The telemetry as CSV, a line an update"},
		[]content{{kind: "text/csv", example: "update,reward\n1,0.5\n"}}, s.csvRun)
	s.raw(route{id: "export-policy-run", path: "/v1/policy/runs/{id}/export.tar", tag: tag, role: Train, refusals: ended,
		summary: "Everything that a training has made", text: "Its state, telemetry, curves, and the checkpoint with which toolgym train --resume goes on, as a tar archive. Of a run that has ended."},
		[]content{{kind: "application/x-tar", example: ""}}, s.exportRun)
}

// mostKeptRuns bounds the policy runs that are kept. It bounds the evaluations of
// one token as well.
const mostKeptRuns = 1000

// openRuns finds the runs of earlier servers.
func (s *Server) openRuns() (err error) {
	config := training.Config{Specs: s.config.Specs, Now: s.config.Now, NewID: s.config.NewID, Logger: s.config.Logger,
		Busy: quota.Part(int64(s.config.MaxRuns), s.config.TokenShare), Kept: quota.Part(mostKeptRuns, s.config.TokenShare)}
	if s.config.Data != "" {
		config.Dir = filepath.Join(s.config.Data, "policy")
	}
	s.runs, err = training.Open(config)
	return err
}

// findRun finds a run of the caller's. Of other people's nothing is said.
func (s *Server) findRun(ctx context.Context, id string) (*training.Run, error) {
	run, err := s.runs.Find(id)
	if err != nil {
		return nil, err
	}
	if !exchangeOf(ctx).caller.owns(run.State().Owner) {
		return nil, training.Missing(id)
	}
	return run, nil
}

type runInput struct{ Sent body[training.Start] }

func (s *Server) startRun(ctx context.Context, in *runInput) (*created[training.State], error) {
	run, err := s.runs.Start(exchangeOf(ctx).caller.name, in.Sent.value)
	if err != nil {
		return nil, inFields(err, map[string]string{"algorithm": "algo", "level": "stages"})
	}
	state := run.State()
	return &created[training.State]{Location: "/v1/policy/runs/" + state.ID, Body: state}, nil
}

// policyRuns is the answer of GET /v1/policy/runs.
type policyRuns struct {
	Runs []training.State `json:"runs"`
}

func (s *Server) listRuns(ctx context.Context, _ *struct{}) (*reply[policyRuns], error) {
	list := policyRuns{Runs: []training.State{}}
	for _, state := range s.runs.List() {
		if exchangeOf(ctx).caller.owns(state.Owner) {
			list.Runs = append(list.Runs, state)
		}
	}
	return answered(list), nil
}

type runPath struct {
	ID string `path:"id" doc:"The id of a policy run."`
}

func (s *Server) getRun(ctx context.Context, in *runPath) (*reply[training.State], error) {
	return s.steer(ctx, in, func(*training.Run) error { return nil })
}

func (s *Server) pauseRun(ctx context.Context, in *runPath) (*reply[training.State], error) {
	return s.steer(ctx, in, (*training.Run).Hold)
}

func (s *Server) resumeRun(ctx context.Context, in *runPath) (*reply[training.State], error) {
	return s.steer(ctx, in, s.runs.Release)
}

func (s *Server) cancelRun(ctx context.Context, in *runPath) (*struct{}, error) {
	_, err := s.steer(ctx, in, s.runs.Cancel)
	return nil, err
}

func (s *Server) steer(ctx context.Context, in *runPath, do func(*training.Run) error) (*reply[training.State], error) {
	run, err := s.findRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := do(run); err != nil {
		return nil, err
	}
	return answered(run.State()), nil
}

func (s *Server) watchRun(c echo.Context) error {
	run, err := s.findRun(c.Request().Context(), c.Param("id"))
	if err != nil {
		return edgeFailure(err)
	}
	return s.sendEvents(c, run.Events(), func() (string, []byte) {
		return "end", encoded(run.State(), nil)
	})
}

func (s *Server) plotRun(format, kind string) echo.HandlerFunc {
	return func(c echo.Context) error {
		run, err := s.findRun(c.Request().Context(), c.Param("id"))
		if err != nil {
			return edgeFailure(err)
		}
		picture, err := telemetry.Curves(run.Records(), format)
		if err != nil {
			return edgeFailure(err)
		}
		secure(c.Response().Header())
		return c.Blob(http.StatusOK, kind, picture)
	}
}
