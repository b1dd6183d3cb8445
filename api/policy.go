package api

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"reflect"
	"strconv"

	"github.com/labstack/echo/v4"

	"toolgym/api/client"
	"toolgym/api/training"
	"toolgym/internal/quota"
	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/skill"
	"toolgym/policy/telemetry"
	"toolgym/policy/train"
	"toolgym/policy/trained"
	"toolgym/tools"
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

// csvRun sends the telemetry as a table.
func (s *Server) csvRun(c echo.Context) error {
	run, err := s.findRun(c.Request().Context(), c.Param("id"))
	if err != nil {
		return edgeFailure(err)
	}
	text, err := telemetryTable(run.State().Config.Levels, run.Records())
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "text/csv; charset=utf-8", text)
}

// exportRun sends a run's folder.
func (s *Server) exportRun(c echo.Context) error {
	run, err := s.findRun(c.Request().Context(), c.Param("id"))
	if err != nil {
		return edgeFailure(err)
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "application/x-tar")
	header.Set(echo.HeaderContentDisposition, `attachment; filename="run.tar"`)
	if err := run.Export(c.Response()); err != nil {
		return edgeFailure(err)
	}
	return nil
}

// telemetryTable has a line an update, under the names of the records; what was
// not measured is empty.
func telemetryTable(stages []string, records []telemetry.Record) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	heading := []string{"update", "reward", "advantage", "policy_loss", "value_loss", "entropy", "loss", "grad_norm",
		"kl", "clip_low", "clip_high", "tool_mass", "call_prob", "start_call_prob", "restarts", "updates_per_second"}
	for _, stage := range stages {
		heading = append(heading, "success/"+stage, "greedy_success/"+stage, "greedy_reward/"+stage)
	}
	lines := [][]string{heading}
	for _, r := range records {
		lines = append(lines, telemetryLine(stages, r))
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("writing CSV: %w", err)
	}
	return b.Bytes(), nil
}

func telemetryLine(stages []string, r telemetry.Record) []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	maybe := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	line := []string{strconv.Itoa(r.Update), number(r.Reward), number(r.Advantage), number(r.PolicyLoss), number(r.ValueLoss), number(r.Entropy),
		number(r.Loss), number(r.GradNorm), maybe(r.KL), maybe(r.ClipLow), maybe(r.ClipHigh), number(r.ToolMass), number(r.CallProb),
		maybe(r.StartCallProb), strconv.Itoa(r.Restarts), number(r.UpdatesPerSecond)}
	for i, stage := range stages {
		cells := []string{"", "", ""}
		if i < len(r.Success) {
			cells[0] = maybe(r.Success[i])
		}
		for _, g := range r.Greedy {
			if g.Stage == stage {
				cells[1], cells[2] = number(g.Success), number(g.Reward)
			}
		}
		line = append(line, cells...)
	}
	return line
}

// A policyAct is the body of POST /v1/policy/act.
type policyAct struct {
	TaskID  string `json:"task_id"`
	Run     string `json:"run,omitempty" doc:"The policy run whose checkpoint acts; when absent that of --checkpoint, or else the one in the binary that knows the task's level."`
	Greedy  *bool  `json:"greedy,omitempty" nullable:"false" doc:"Takes the likeliest token each time: one plan. True when absent, unless samples is there."`
	Samples int    `json:"samples,omitempty" minimum:"1" maximum:"256" doc:"Number of plans to draw; implies greedy false."`
	Seed    uint64 `json:"seed,omitempty" format:"uint64" doc:"Of the draws."`
}

func (s *Server) actRoutes() {
	handle(s, route{id: "act", work: heavy, method: http.MethodPost, path: "/v1/policy/act", tag: "policy", role: Play,
		summary: "Let the policy plan a task", text: "Plans and plays a task on the bare environment: greedily, or as often as samples says.",
		refusals: []int{http.StatusNotFound, http.StatusConflict}, request: policyAct{TaskID: "arithmetic/0/17"},
		answer: client.Plans{TaskID: "arithmetic/0/17", Context: []string{"4", "2", "[CTX]"},
			Plans: []client.Plan{{Tokens: []string{"[MUL]", "[ANS]"}, Probs: []float64{0.99, 0.98}, Values: []float64{0.9, 1}, Reward: 1, Success: true}}}}, s.act)
}

type actInput struct{ Sent body[policyAct] }

func (s *Server) act(ctx context.Context, in *actInput) (*reply[client.Plans], error) {
	sent := in.Sent.value
	spec, task, err := s.config.Specs.Task(sent.TaskID)
	if err != nil {
		return nil, err
	}
	if spec.Enumerate == nil {
		return nil, &tools.Error{Code: tools.Conflict, Where: "task_id", Message: spec.Name + " cannot be planned", Want: "a task of arithmetic or gridworld"}
	}
	if sent.Samples > 0 && sent.Greedy != nil && *sent.Greedy {
		return nil, refusal.New("samples", "samples, or greedy", "samples of a greedy plan are all the same")
	}
	net, err := s.network(ctx, sent.Run, task)
	if err != nil {
		return nil, err
	}
	return s.plan(net, spec, task, sent)
}

// network loads the policy that is to act: the run's, else the one that the server
// was started with, else the one in the binary. One that was trained for another
// environment or other rules is refused: its plans would mean nothing.
func (s *Server) network(ctx context.Context, run string, task tools.Task) (*policy.Net, error) {
	path := s.config.Checkpoint
	if run != "" {
		found, err := s.findRun(ctx, run)
		if err != nil {
			return nil, refusal.Move("run", err)
		}
		path = found.Checkpoint()
	}
	if path == "" {
		return embedded(task)
	}
	net, checkpoint, err := policy.LoadNet(path)
	if err != nil {
		return nil, refusal.Move("run", err)
	}
	if config, err := train.ConfigOf(checkpoint); err == nil {
		return net, knows(config, task)
	}
	return net, nil
}

// embedded is the policy in the binary that was trained on the task's level.
func embedded(task tools.Task) (*policy.Net, error) {
	net, config, err := trained.Load(task.Env, task.Level)
	if refusal.Is(err, tools.NotFound) {
		return nil, &tools.Error{Code: tools.Conflict, Where: "run", Message: fmt.Sprintf("no policy in the binary knows level %s of %s", task.Level, task.Env), Want: "the id of a policy run, or a server started with --checkpoint"}
	}
	if err != nil {
		return nil, err
	}
	return net, knows(config, task)
}

// knows refuses a task that is not of what a policy was trained on.
func knows(config train.Config, task tools.Task) error {
	if config.Env == task.Env && config.Rules == task.Rules {
		return nil
	}
	return &tools.Error{Code: tools.Conflict, Where: "task_id", Message: fmt.Sprintf("the policy was trained on %s, %s rules", config.Env, config.Rules), Want: "a task of that environment and those rules"}
}

func (s *Server) plan(net *policy.Net, spec tools.Spec, task tools.Task, sent policyAct) (*reply[client.Plans], error) {
	env, n := spec.Enumerate(), max(1, sent.Samples)
	var rng *rand.Rand
	if sent.Samples > 0 || sent.Greedy != nil && !*sent.Greedy {
		rng = rand.New(rand.NewPCG(sent.Seed, 0))
	}
	prompts := make([]policy.Prompt, n)
	for i := range prompts {
		if err := env.Start(task.Rules, task.Level, task.Seed); err != nil {
			return nil, refusal.Move("task_id", err)
		}
		if err := prompts[i].Read(env, task.Level); err != nil {
			return nil, refusal.Move("task_id", err)
		}
	}
	plans, err := policy.NewActor(net).Plan(prompts, rng)
	if err != nil {
		return nil, refusal.Move("task_id", err)
	}
	answer := client.Plans{TaskID: task.ID, Context: tools.TokenTexts(env, prompts[0].Context)}
	for _, plan := range plans {
		if err := env.Start(task.Rules, task.Level, task.Seed); err != nil {
			return nil, err
		}
		answer.Plans = append(answer.Plans, playPlan(env, plan))
	}
	return answered(answer), nil
}

// playPlan plays a plan's tokens until the episode is over.
func playPlan(env tools.Enumerator, plan policy.Plan) client.Plan {
	played, reward := len(plan.Tokens), 0.0
	for i, token := range plan.Tokens {
		paid, done := env.Act(token)
		if reward += paid; done {
			played = i + 1
			break
		}
	}
	return client.Plan{Tokens: tools.TokenTexts(env, plan.Tokens[:played]), Probs: plan.Probs[:played], Values: plan.Values[:played], Reward: reward, Success: env.Success()}
}

func (s *Server) skillRoutes() {
	handle(s, route{id: "list-skills", method: http.MethodGet, path: "/v1/skills", tag: "skills",
		summary: "The skill library",
		text: "What was learnt, in the order in which it was found, and how it fared. The skills that are offered stand in the tool lists of their environment, as skill_NAME; " +
			"a call of one whose preconditions do not hold is an error result that says which. Without a library the list is empty.",
		answer: exampleSkills()}, s.listSkills)
}

// skillList is what GET /v1/skills answers.
type skillList struct {
	Skills []skill.Skill `json:"skills"`
	Stats  skill.Stats   `json:"stats"`
}

func (s *Server) listSkills(context.Context, *struct{}) (*reply[skillList], error) {
	if s.config.Skills == nil {
		return answered(skillList{Skills: []skill.Skill{}}), nil
	}
	return answered(skillList{s.config.Skills.Skills(), s.config.Skills.Stats()}), nil
}

// schooled offers the skills of the library in the environments.
func schooled(specs tools.Specs, library *skill.Library) tools.Specs {
	if library == nil {
		return specs
	}
	list := make(tools.Specs, len(specs))
	for i, spec := range specs {
		list[i] = skill.AddTools(spec, library)
	}
	return list
}

func exampleSkills() skillList {
	return skillList{
		Skills: []skill.Skill{{Name: "acquire_key_up_1", Env: "gridworld", Preconditions: map[string]bool{"has_key": false, "door_open": false}, Gains: "has_key",
			Actions:   []tools.Call{{Name: "move_up", Arguments: []byte("{}")}, {Name: "pickup_key", Arguments: []byte("{}")}},
			Path:      []skill.Offset{{0, 1}, {0, 1}},
			Embedding: []float64{1, 0, 0, 0, 0, 0, 0, 0}, SuccessCount: 3, TimesUsed: 3, TimesFound: 8}},
		Stats: skill.Stats{Skills: 1, Uses: 3, MeanSuccessRate: 1},
	}
}
