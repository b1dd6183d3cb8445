package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

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
