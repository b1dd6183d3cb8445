package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strconv"

	"github.com/labstack/echo/v4"

	"toolgym/api/client"
	"toolgym/internal/refusal"
	"toolgym/internal/store"
	"toolgym/tools"
)

func (s *Server) episodeRoutes() {
	handle(s, route{id: "start-episode", method: http.MethodPost, path: "/v1/episodes", tag: "episodes", role: Play, status: http.StatusCreated,
		summary: "Start an episode", text: "Names a task by its id, or by env, level, seed and, if wanted, rules.",
		refusals: []int{http.StatusNotFound, http.StatusServiceUnavailable},
		request:  client.Start{TaskID: "arithmetic/2/17"}, answer: exampleState()}, s.startEpisode)
	handle(s, route{id: "list-episodes", method: http.MethodGet, path: "/v1/episodes", tag: "episodes", role: Play,
		summary: "The live episodes, oldest first", answer: client.Page{Episodes: []client.Summary{exampleSummary()}}}, s.listEpisodes)
	handle(s, route{id: "get-episode", method: http.MethodGet, path: "/v1/episodes/{id}", tag: "episodes", role: Play,
		summary: "An episode with its whole trajectory", refusals: []int{http.StatusNotFound, http.StatusGone}, answer: examplePlayed()}, s.getEpisode)
	handle(s, route{id: "delete-episode", method: http.MethodDelete, path: "/v1/episodes/{id}", tag: "episodes", role: Play, status: http.StatusNoContent,
		summary: "Forget an episode", refusals: []int{http.StatusNotFound, http.StatusGone}}, s.deleteEpisode)
	handle(s, route{id: "fork-episode", method: http.MethodPost, path: "/v1/episodes/{id}/fork", tag: "episodes", role: Play, status: http.StatusCreated,
		summary: "Copy an episode, to go on from where it is", text: "The copy has the same steps behind it and an id of its own. Request ids stay with the original.",
		refusals: []int{http.StatusNotFound, http.StatusGone, http.StatusServiceUnavailable}, answer: exampleState()}, s.forkEpisode)
	s.stepRoutes()
}

type episodePath struct {
	ID string `path:"id" doc:"The id of an episode."`
}

type startInput struct{ Sent body[client.Start] }

func (s *Server) startEpisode(ctx context.Context, in *startInput) (*created[client.State], error) {
	spec, task, err := s.lookupTask(in.Sent.value)
	if err != nil {
		return nil, err
	}
	return s.open(ctx, spec, task, nil)
}

// lookupTask finds the task that a start names in one way or the other.
func (s *Server) lookupTask(start client.Start) (tools.Spec, tools.Task, error) {
	const want = "task_id alone, or env, level, seed and perhaps rules"
	parts := start
	parts.TaskID = ""
	switch {
	case start.TaskID != "" && parts != client.Start{}:
		return tools.Spec{}, tools.Task{}, refusal.New("task_id", want, "the task is named twice")
	case start.TaskID != "":
		spec, task, err := s.config.Specs.Task(start.TaskID)
		return spec, task, refusal.Move("task_id", err)
	case start.Env == "":
		return tools.Spec{}, tools.Task{}, refusal.New("env", want, "the task is not named")
	case start.Level == "":
		return tools.Spec{}, tools.Task{}, refusal.New("level", want, "the level is missing")
	case start.Seed == nil:
		return tools.Spec{}, tools.Task{}, refusal.New("seed", want, "the seed is missing")
	}
	spec, err := s.config.Specs.Lookup(start.Env)
	if err != nil {
		return tools.Spec{}, tools.Task{}, err
	}
	task, err := spec.Task(start.Rules, start.Level, *start.Seed)
	return spec, task, err
}

// inFields gives the error of a domain the place that a request has for it, where
// its fields have other names.
func inFields(err error, fields map[string]string) error {
	return refusal.Relocate(err, func(where string) string { return cmp.Or(fields[where], where) })
}

// open makes an episode of the caller's.
func (s *Server) open(ctx context.Context, spec tools.Spec, task tools.Task, moves []store.Move) (*created[client.State], error) {
	return s.openAs(ctx, s.config.NewID(), spec, task, moves)
}

// openAs is open with an id. The episode is put into the table and then into
// the ledger; its id is returned after both have it.
func (s *Server) openAs(ctx context.Context, id string, spec tools.Spec, task tools.Task, moves []store.Move) (*created[client.State], error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	e := &episode{id: id, owner: exchangeOf(ctx).caller.name, begun: s.config.Now(), spec: spec, task: task, maxSteps: s.config.MaxSteps, ledger: s.ledger}
	if err := e.begin(ctx, moves); err != nil {
		return nil, err
	}
	number, err := s.episodes.add(e)
	if err != nil {
		return nil, err
	}
	if err := s.ledger.begin(ctx, number, e, moves); err != nil {
		s.episodes.discard(e)
		return nil, err
	}
	s.metrics.begun.WithLabelValues(spec.Name).Inc()
	if err := s.tidy(ctx, number); err != nil {
		s.config.Logger.Warn("old episodes are still kept", "error", err)
	}
	return &created[client.State]{Location: "/v1/episodes/" + e.id, Body: s.state(e, false)}, nil
}

// tidy tells the ledger, with every 64th episode, which ones are over. As many
// as four times that number are deleted with it, so that the database stays
// bounded without anything that runs in the background.
func (s *Server) tidy(ctx context.Context, number uint64) error {
	if number%64 != 0 {
		return nil
	}
	over := s.episodes.takeOver()
	if err := s.ledger.end(ctx, over); err != nil {
		s.episodes.giveBack(over)
		return err
	}
	return nil
}

// state is what an episode shows of itself.
func (s *Server) state(e *episode, whole bool) client.State {
	path := e.trajectory()
	state := client.State{ID: e.id, Task: e.task, Observation: path.Observation, Tools: e.tools, Step: len(path.Steps),
		Terminated: path.Terminated, Truncated: path.Truncated, ExpiresAt: s.episodes.expiry(e.id).UTC()}
	if whole {
		state.Trajectory = &path
	}
	return state
}

// find looks up an episode of the caller's. One that the table does not know
// may still be in the ledger, over.
func (s *Server) find(ctx context.Context, id string) (*episode, error) {
	e, err := s.episodes.find(exchangeOf(ctx).caller, id)
	return e, s.sought(ctx, id, err)
}

func (s *Server) sought(ctx context.Context, id string, err error) error {
	if s.ledger.store == nil || !refusal.Is(err, tools.NotFound) {
		return err
	}
	kept, lost := s.ledger.read(ctx, id)
	switch {
	case refusal.Is(lost, tools.NotFound):
		return err
	case lost != nil:
		return lost
	case !exchangeOf(ctx).caller.owns(kept.Owner) || s.episodes.has(id):
		return err
	}
	return expired(id)
}

func (s *Server) getEpisode(ctx context.Context, in *episodePath) (*reply[client.State], error) {
	e, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return answered(s.state(e, true)), nil
}

func (s *Server) deleteEpisode(ctx context.Context, in *episodePath) (*struct{}, error) {
	e, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := s.ledger.delete(ctx, in.ID); err != nil {
		return nil, err
	}
	s.episodes.discard(e)
	return nil, nil
}

func (s *Server) forkEpisode(ctx context.Context, in *episodePath) (*created[client.State], error) {
	e, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	steps := e.steps()
	moves := make([]store.Move, len(steps))
	for i, step := range steps {
		moves[i] = store.Move{Step: step, Made: s.config.Now()}
	}
	return s.open(ctx, e.spec, e.task, moves)
}

type pageQuery struct {
	Cursor string `query:"cursor" doc:"next_cursor of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many."`
}

func (s *Server) listEpisodes(ctx context.Context, in *pageQuery) (*reply[client.Page], error) {
	after := uint64(0)
	if in.Cursor != "" {
		var err error
		if after, err = strconv.ParseUint(in.Cursor, 10, 64); err != nil {
			return nil, refusal.New("cursor", "next_cursor of the page before", "%.80q is no cursor", in.Cursor)
		}
	}
	seats := s.episodes.page(exchangeOf(ctx).caller, after, in.Limit+1)
	page := client.Page{Episodes: []client.Summary{}}
	if len(seats) > in.Limit {
		seats = seats[:in.Limit]
		page.NextCursor = strconv.FormatUint(seats[in.Limit-1].number, 10)
	}
	for _, seat := range seats {
		path := seat.trajectory()
		page.Episodes = append(page.Episodes, client.Summary{ID: seat.id, TaskID: seat.task.ID, Step: len(path.Steps), Return: path.Return,
			Terminated: path.Terminated, Truncated: path.Truncated, ExpiresAt: seat.expires.UTC()})
	}
	return answered(page), nil
}

func (s *Server) toolRoutes() {
	handle(s, route{id: "call-tool", method: http.MethodPost, path: "/v1/tools/{name}/calls", tag: "tools", role: Play,
		summary: "Call a tool that needs no episode",
		text: "Tools whose result depends on their arguments alone can be called like this. Arguments that break the schema " +
			"are the agent's mistake: 200, with is_error set. Where two environments have a tool of the name, the first is called, or the one that env names.",
		refusals: []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		request:  client.Arguments{Arguments: json.RawMessage(`{"a":9,"b":3}`)},
		answer:   tools.Result{Content: json.RawMessage(`{"result":27}`)},
	}, s.callTool)
}

type toolCall struct {
	Name string `path:"name" doc:"The name of a tool."`
	Env  string `query:"env" doc:"The environment whose tool is meant."`
	Sent body[client.Arguments]
}

func (s *Server) callTool(ctx context.Context, in *toolCall) (*reply[tools.Result], error) {
	tool, err := s.lookupTool(in.Name, in.Env)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	result, err := tool.Call(ctx, in.Sent.value.Arguments)
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", tool.Name, err)
	}
	return answered(result), nil
}

// An offer is a tool as one environment has it. A tool that some level can
// call by itself is offered as that level has it.
type offer struct {
	env  string
	tool tools.Tool
}

// offers lists the tools of all environments by name, in their order.
func offers(specs tools.Specs) map[string][]offer {
	found := map[string][]offer{}
	for _, spec := range specs {
		for _, level := range spec.Levels {
			for _, tool := range spec.Tools("", level) {
				found[tool.Name] = offered(found[tool.Name], offer{spec.Name, tool})
			}
		}
	}
	return found
}

// offered adds an offer, at most one an environment.
func offered(list []offer, o offer) []offer {
	for i := range list {
		if list[i].env == o.env {
			if !list[i].tool.Callable() {
				list[i] = o
			}
			return list
		}
	}
	return append(list, o)
}

// lookupTool finds a tool that can be called by itself. One that is only to be
// had within an episode is a conflict, one that is nowhere is not found.
func (s *Server) lookupTool(name, env string) (tools.Tool, error) {
	if env != "" {
		if _, err := s.config.Specs.Lookup(env); err != nil {
			return tools.Tool{}, err
		}
	}
	known := false
	for _, o := range s.offers[name] {
		if env != "" && o.env != env {
			continue
		}
		if o.tool.Callable() {
			return o.tool, nil
		}
		known = true
	}
	if known {
		return tools.Tool{}, &tools.Error{Code: tools.Conflict, Where: "name", Message: fmt.Sprintf("the tool %q acts on an episode", name), Want: "POST /v1/episodes, then its calls"}
	}
	return tools.Tool{}, &tools.Error{Code: tools.NotFound, Where: "name", Message: fmt.Sprintf("there is no tool %.80q", name), Want: "one that GET /v1/envs lists"}
}

// stepRoutes are the two ways to go on in an episode.
func (s *Server) stepRoutes() {
	refusals := []int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusServiceUnavailable}
	handle(s, route{id: "call", method: http.MethodPost, path: "/v1/episodes/{id}/calls", tag: "episodes", role: Play,
		summary: "Call a tool of the episode",
		text: "An unknown tool, bad arguments and whatever else is the agent's own mistake give 200 and a result with is_error set, and the episode goes on. " +
			"The same request_id again gives the same answer and makes no second step; with another call it is a conflict.",
		refusals: refusals, request: client.Call{Name: "multiply", Arguments: json.RawMessage(`{"a":9,"b":3}`), RequestID: "step-1"}, answer: exampleAnswer()}, s.call)
	handle(s, route{id: "say", method: http.MethodPost, path: "/v1/episodes/{id}/messages", tag: "episodes", role: Play,
		summary: "Say something, calling nothing",
		text: "What a language model writes when it makes no call. Some environments judge it (a task that needs no tool is solved by answering); " +
			"to the others it is one step, recorded and without effect. The answer is that of a call, without a result.",
		refusals: refusals, request: client.Message{Content: "You are welcome!"}, answer: client.Answer{Reward: 1, Terminated: true, Step: 1}}, s.say)
}

type callInput struct {
	ID   string `path:"id" doc:"The id of an episode."`
	Sent body[client.Call]
}

func (s *Server) call(ctx context.Context, in *callInput) (*reply[client.Answer], error) {
	sent := in.Sent.value
	return s.play(ctx, in.ID, move{call: tools.Call{Name: sent.Name, Arguments: sent.Arguments}, request: sent.RequestID})
}

type messageInput struct {
	ID   string `path:"id" doc:"The id of an episode."`
	Sent body[client.Message]
}

func (s *Server) say(ctx context.Context, in *messageInput) (*reply[client.Answer], error) {
	return s.play(ctx, in.ID, move{message: in.Sent.value.Content, request: in.Sent.value.RequestID})
}

func (s *Server) play(ctx context.Context, id string, m move) (*reply[client.Answer], error) {
	e, err := s.episodes.use(exchangeOf(ctx).caller, id)
	if err != nil {
		return nil, s.sought(ctx, id, err)
	}
	answer, err := e.play(ctx, m, s.config.CallTimeout)
	if err != nil {
		return nil, err
	}
	s.episodes.used(e)
	s.metrics.step(e.spec.Name, answer.Reward, answer.Result != nil && answer.Result.IsError)
	return answered(answer), nil
}

// An exported is a line of GET /v1/episodes/export.ndjson.
type exported struct {
	ID         string           `json:"id"`
	Owner      string           `json:"owner,omitempty"`
	Live       bool             `json:"live"`
	Trajectory tools.Trajectory `json:"trajectory"`
}

func (s *Server) exportRoutes() {
	registry := s.api.OpenAPI().Components.Schemas
	s.raw(route{id: "export-episodes", path: "/v1/episodes/export.ndjson", tag: "episodes", role: Play,
		summary: "The trajectories of all episodes that are kept", text: "A line an episode, in the order of creation: the live ones, and those that are over while the database keeps them."},
		[]content{{kind: linesType, schema: registry.Schema(reflect.TypeFor[exported](), true, ""), example: exported{ID: exampleState().ID, Trajectory: *examplePlayed().Trajectory}}}, s.exportEpisodes)
}

// exportEpisodes sends the caller's episodes, a page of them in memory at a time.
func (s *Server) exportEpisodes(c echo.Context) error {
	s.unhurried(c)
	c.Response().Header().Set(echo.HeaderContentType, "application/x-ndjson")
	ctx := c.Request().Context()
	c.Response().WriteHeader(http.StatusOK)
	lines := json.NewEncoder(c.Response())
	lines.SetEscapeHTML(false)
	if err := s.exportOver(ctx, lines); err != nil {
		return sending(ctx, err)
	}
	for _, seat := range s.episodes.page(exchangeOf(ctx).caller, 0, s.config.MaxEpisodes) {
		if err := lines.Encode(exported{seat.id, seat.owner, true, seat.trajectory()}); err != nil {
			return sending(ctx, err)
		}
	}
	return nil
}

// sending is the error of an answer that has begun: it breaks off, and the log
// says why, unless the client has gone.
func sending(ctx context.Context, err error) error {
	if err == nil || hungUp(ctx) {
		return nil
	}
	return fmt.Errorf("sending an export: %w", err)
}

// exportOver writes the episodes that are over, and in the database alone.
func (s *Server) exportOver(ctx context.Context, lines *json.Encoder) error {
	if s.ledger.store == nil {
		return nil
	}
	owner := exchangeOf(ctx).caller.name
	if exchangeOf(ctx).caller.may(Admin) {
		owner = "*"
	}
	const page = 64
	for after := uint64(0); ; {
		kept, err := s.ledger.store.EndedEpisodes(ctx, owner, after, page)
		if err != nil {
			return fmt.Errorf("exporting episodes: %w", err)
		}
		for _, k := range kept {
			after = k.Number
			if err := s.exportKept(ctx, lines, k); err != nil {
				return err
			}
		}
		if len(kept) < page {
			return nil
		}
	}
}

// exportKept writes one; it is replayed for what was observed first. Where the
// environment has changed since, its own part is left out.
func (s *Server) exportKept(ctx context.Context, lines *json.Encoder, k store.Episode) error {
	line := exported{ID: k.ID, Owner: k.Owner, Trajectory: tools.Trajectory{Task: tools.Task{ID: k.Task}, Steps: stepsOf(k.Moves)}}
	if e, err := s.revive(ctx, k); err == nil {
		line.Trajectory = e.trajectory()
	}
	if err := lines.Encode(line); err != nil {
		return fmt.Errorf("sending episodes: %w", err)
	}
	return nil
}

func (s *Server) envRoutes() {
	handle(s, route{id: "list-envs", method: http.MethodGet, path: "/v1/envs", tag: "envs",
		summary: "The environments, their levels and tools", answer: exampleEnvs()}, s.listEnvs)
	handle(s, route{id: "list-tools", method: http.MethodGet, path: "/v1/envs/{env}/tools", tag: "envs",
		summary: "The tools of a level", text: "Without a level, those of the default level. The order is that in which agents see them.",
		refusals: []int{http.StatusNotFound}, answer: client.Tools{Tools: exampleEnvs().Envs[0].Tools}}, s.listTools)
	handle(s, route{id: "list-tasks", work: heavy, method: http.MethodGet, path: "/v1/envs/{env}/tasks", tag: "envs",
		summary: "Tasks, by their seeds", text: "The tasks of n seeds from the given one on. Never the answer.",
		refusals: []int{http.StatusNotFound}, answer: client.Tasks{Tasks: []tools.Task{exampleTask()}}}, s.listTasks)
}

type levelQuery struct {
	Env   string `path:"env" doc:"The name of an environment."`
	Level string `query:"level" doc:"The environment's first level when absent."`
	Rules string `query:"rules" doc:"The environment's first rule set when absent."`
}

type tasksQuery struct {
	Env   string `path:"env" doc:"The name of an environment."`
	Level string `query:"level" doc:"The environment's first level when absent."`
	Rules string `query:"rules" doc:"The environment's first rule set when absent."`
	Seed  uint64 `query:"seed" format:"uint64" doc:"The first seed, from 0 to 18446744073709551615; 0 when absent."`
	N     uint64 `query:"n" minimum:"1" maximum:"1000" default:"1" doc:"How many."`
}

func (s *Server) listEnvs(context.Context, *struct{}) (*reply[client.Envs], error) {
	return answered(client.Describe(s.config.Specs)), nil
}

func (s *Server) listTools(_ context.Context, in *levelQuery) (*reply[client.Tools], error) {
	spec, err := s.config.Specs.Lookup(in.Env)
	if err != nil {
		return nil, err
	}
	task, err := spec.Task(in.Rules, in.Level, 0) // for its opinion of the names
	if err != nil {
		return nil, err
	}
	return answered(client.Tools{Tools: nonNil(spec.Tools(task.Rules, task.Level))}), nil
}

func (s *Server) listTasks(_ context.Context, in *tasksQuery) (*reply[client.Tasks], error) {
	spec, err := s.config.Specs.Lookup(in.Env)
	if err != nil {
		return nil, err
	}
	if left := math.MaxUint64 - in.Seed; in.N-1 > left {
		return nil, refusal.New("n", fmt.Sprintf("at most %d from this seed on", left+1), "the seeds end before that many tasks")
	}
	list := make([]tools.Task, in.N)
	for i := range list {
		if list[i], err = spec.Task(in.Rules, in.Level, in.Seed+uint64(i)); err != nil {
			return nil, err
		}
	}
	return answered(client.Tasks{Tasks: list}), nil
}

// nonNil keeps an empty set from being written as null.
func nonNil(set tools.Set) tools.Set {
	if set == nil {
		return tools.Set{}
	}
	return set
}
