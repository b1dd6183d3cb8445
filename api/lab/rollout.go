package lab

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"toolgym/grpo"
	"toolgym/policy/telemetry"
	"toolgym/tools"
)

// The front page: one task, two agents beside each other, what the reward makes
// of them, and what a group would teach.

// rolloutRoutes are the addresses of the front page.
func (l *Lab) rolloutRoutes() []Route {
	return []Route{
		{http.MethodGet, "/", "score", l.front},
		{http.MethodGet, "/lab/rollout", "score", l.rescore},
		{http.MethodPost, "/lab/play", "train", l.play},
	}
}

// A rolloutPage is the page: its controls, and what they show.
type rolloutPage struct {
	Settings
	Envs, Levels []string
	Agents       []candidates
	Models       string // why there are none among the agents
	Shown        shown
	Lessons      []lesson
}

// shown is the part of the page that is drawn again as controls move.
type shown struct {
	Settings
	Task     tools.Task
	Note     string // about the settings themselves
	Columns  []*episode
	Study    study
	Rows     []tried
	Last     *update
	Reset    template.URL // the same with the published numbers
	Address  template.URL // the same settings as a query
	Steps    int          // of the longer episode
	OverKL   bool
	CanGroup bool // the group is a model's, which plays when it is told to
}

// An update is the last record of a training.
type update struct {
	telemetry.Record
	Run   string
	Over  bool // its divergence is over the bound
	Count int
}

// front is the first page.
func (l *Lab) front(w http.ResponseWriter, r *http.Request) error {
	page, err := l.rollout(r.Context(), r.URL.Query())
	if err != nil {
		return err
	}
	return l.show(w, r, "rollout", "Rollout and reward", page)
}

// rescore is the part of it that moves.
func (l *Lab) rescore(w http.ResponseWriter, r *http.Request) error {
	set, note, err := l.settings(r.URL.Query())
	if err != nil {
		return err
	}
	part, err := l.stage(r.Context(), set, note)
	if err != nil {
		return err
	}
	return l.part(w, "rollout", "shown", part)
}

func (l *Lab) rollout(ctx context.Context, query url.Values) (rolloutPage, error) {
	set, note, err := l.settings(query)
	if err != nil {
		return rolloutPage{}, err
	}
	page := rolloutPage{Settings: set, Lessons: lessons()}
	page.Agents, page.Models = l.offer(ctx)
	for _, spec := range l.config.Specs {
		page.Envs = append(page.Envs, spec.Name)
		if spec.Name == set.Env {
			page.Levels = spec.Levels
		}
	}
	page.keepChoices()
	page.Shown, err = l.stage(ctx, set, note)
	return page, err
}

// keepChoices lets the controls show an agent that is not offered now, such as a
// model whose server is away.
func (p *rolloutPage) keepChoices() {
	for _, name := range []string{p.Before, p.After} {
		if !slices.ContainsFunc(p.Agents, func(c candidates) bool {
			return slices.ContainsFunc(c.List, func(c candidate) bool { return c.Value == name })
		}) {
			p.Agents = append(p.Agents, candidates{"Not connected", []candidate{{name, name}}})
		}
	}
}

// settings reads a query. A level of another environment, as a form without a
// script sends it when the environment is changed, becomes the first level, and
// the page says so.
func (l *Lab) settings(query url.Values) (set Settings, note string, err error) {
	spec, known := l.config.Specs.Lookup(query.Get("env"))
	level := query.Get("level")
	foreign := slices.ContainsFunc(l.config.Specs, func(s tools.Spec) bool { return slices.Contains(s.Levels, level) })
	if known == nil && level != "" && foreign && !slices.Contains(spec.Levels, level) {
		query = cloned(query)
		query.Set("level", spec.Levels[0])
		note = spec.Name + " has no level " + level + ": this is its level " + spec.Levels[0] + "."
	}
	set, err = ParseSettings(query, l.config.Specs, l.config.Rubric)
	return set, note, err
}

func cloned(query url.Values) url.Values {
	copied := url.Values{}
	for name, values := range query {
		copied[name] = slices.Clone(values)
	}
	return copied
}

// stage plays a task as the settings say, and scores what came of it. The time
// that a call may take is the limit of all of it.
func (l *Lab) stage(ctx context.Context, set Settings, note string) (shown, error) {
	ctx, cancel := context.WithTimeout(ctx, l.config.CallTimeout)
	defer cancel()
	v := shown{Settings: set, Note: note, Reset: address(set.published()), Address: address(set)}
	spec, task, err := l.config.Specs.Task(set.taskID())
	if err != nil {
		return v, err
	}
	v.Task = task
	s := scene{spec, task}
	before, err := l.cast(ctx, "before", set.Before, set.After, spec, task)
	if err != nil {
		return v, err
	}
	after, err := l.cast(ctx, "after", set.After, set.Before, spec, task)
	if err != nil {
		return v, err
	}
	if err := l.columns(ctx, &v, s, before, after); err != nil {
		return v, err
	}
	group, err := l.sampled(ctx, s, before, set.Group)
	if err != nil {
		return v, err
	}
	if v.Study, err = l.study(ctx, set, s, before, after, group); err != nil {
		return v, err
	}
	v.CanGroup = before.model.Name != "" && len(group) < set.Group
	v.OverKL = v.Study.Divergence != nil && *v.Study.Divergence > set.Bound
	v.Rows = s.rows(v.Study.Members)
	v.Last = l.lastUpdate(ctx, set)
	return v, nil
}

// address is settings as a query of a link.
func address(set Settings) template.URL { return template.URL(set.Query().Encode()) }

// columns plays, or finds, the episode of each side.
func (l *Lab) columns(ctx context.Context, v *shown, s scene, before, after player) error {
	for i, p := range []player{before, after} {
		e := &episode{Side: []string{"before", "after"}[i], Title: []string{"Before", "After"}[i], Label: p.Label, Notes: p.Notes, Playable: p.model.Name != "", Critic: criticOf(p)}
		v.Columns = append(v.Columns, e)
		t, ok, err := l.episode(ctx, s, p)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		response, err := l.grade(ctx, v.Settings, s.task, []take{t}, nil)
		if err != nil {
			return err
		}
		if err := e.show(ctx, s, t, response.Groups[0].Completions[0]); err != nil {
			return err
		}
		v.Steps = max(v.Steps, e.Steps())
	}
	return nil
}

// episode is what stands in a player's column; there is none yet of a model that
// has not played.
func (l *Lab) episode(ctx context.Context, s scene, p player) (t take, ok bool, err error) {
	if p.net == nil && p.agent == nil {
		played := l.kept.get(l.keyOf(ctx, p.model, s.task))
		if len(played) == 0 {
			return take{}, false, nil
		}
		return take{completion: played[0], task: s.task}, true, nil
	}
	t, err = s.shown(ctx, p)
	return t, err == nil, err
}

// sampled is the group of a player: of a model, what it has played so far.
func (l *Lab) sampled(ctx context.Context, s scene, p player, n int) ([]take, error) {
	if p.net != nil || p.agent != nil {
		return s.group(ctx, p, n)
	}
	var list []take
	for _, c := range l.kept.get(l.keyOf(ctx, p.model, s.task)) {
		if len(list) < n {
			list = append(list, take{completion: c, task: s.task})
		}
	}
	return list, nil
}

func (l *Lab) keyOf(ctx context.Context, m served, task tools.Task) keptKey {
	return keptKey{l.config.Owner(ctx), m.Server, m.Name, task.ID}
}

// lastUpdate is the last update of the run that stands in a column, or else of
// the caller's newest that has one.
func (l *Lab) lastUpdate(ctx context.Context, set Settings) *update {
	ids := []string{}
	for _, run := range l.ownRuns(ctx) {
		if set.After == runPrefix+run.ID || set.Before == runPrefix+run.ID {
			ids = slices.Insert(ids, 0, run.ID)
		} else {
			ids = append(ids, run.ID)
		}
	}
	for _, id := range ids {
		run, err := l.findRun(ctx, "after", id)
		if err != nil {
			continue // deleted since
		}
		if records := run.Records(); len(records) > 0 {
			last := records[len(records)-1]
			return &update{Record: last, Run: runLabel(run.State()), Over: last.KL != nil && *last.KL > set.Bound, Count: len(records)}
		}
	}
	return nil
}

// published are the same settings with the published lab's numbers.
func (s Settings) published() Settings {
	preset := presets(tools.Specs{{Name: s.Env, Levels: []string{s.Level}}}, grpo.DefaultRubric())
	preset.Seed, preset.Before, preset.After, preset.Group = s.Seed, s.Before, s.After, s.Group
	return preset
}

// Side is what the template of a candidate of agents needs.
func (p rolloutPage) Side(chosen string) any {
	return struct {
		Chosen string
		Agents []candidates
	}{chosen, p.Agents}
}
