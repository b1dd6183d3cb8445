package evaluation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolgym/grpo/eval"
	"toolgym/grpo/eval/suite"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// A Request says what is to be evaluated, and how.
type Request struct {
	Run    string   `json:"run,omitempty"` // name; empty: model and time
	Model  string   `json:"model"`
	Ollama []string `json:"ollama,omitempty"` // addresses that share the work
	OpenAI string   `json:"openai,omitempty"` // or one server of the OpenAI form
	Route  string   `json:"route,omitempty"`  // chat, raw, both or agent; empty: chat

	Envs   []string `json:"envs,omitempty"`   // empty: arithmetic, unless there is a suite
	Levels []string `json:"levels,omitempty"` // empty: 0, 1 and 2, as far as there are such
	Rules  string   `json:"rules,omitempty"`
	Suite  *Suite   `json:"suite,omitempty"`
	N      int      `json:"n,omitempty"`           // tasks of each level
	Limit  int      `json:"limit,omitempty"`       // of tasks in all; 0: none
	Trials int      `json:"trials,omitempty"`      // of each task
	Seed   uint64   `json:"seed" required:"false"` // of the first task of each level, and of sampling
	Sample *uint64  `json:"sample_seed,omitempty"` // of sampling alone: other answers to the same tasks

	Temperature *float64 `json:"temperature,omitempty"`
	NumCtx      int      `json:"num_ctx,omitempty"`
	NumPredict  int      `json:"num_predict,omitempty"`
	MaxTurns    int      `json:"max_turns,omitempty"`
	Timeout     int      `json:"timeout_s,omitempty"` // of one turn, in seconds
	Concurrency int      `json:"concurrency,omitempty"`
	Resume      bool     `json:"resume,omitempty"`

	Command []string `json:"command,omitempty"` // that repeats it
	Owner   string   `json:"-"`                 // the token that a new run belongs to; empty: nobody's
}

// A Suite is a file of questions, see package suite.
type Suite struct {
	Name  string `json:"name"`
	Lines string `json:"lines"`
}

// The routes of a run.
const (
	RouteChat   = "chat"
	RouteRaw    = "raw"
	RouteBoth   = "both"
	RouteOpenAI = "openai"
	RouteAgent  = "agent" // no server: one of Agents plays
)

// WithDefaults fills in what is zero and has a default.
func (r Request) WithDefaults() Request {
	fill := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	fill(&r.N, 10)
	fill(&r.Trials, 1)
	fill(&r.NumCtx, rollout.DefaultNumCtx)
	fill(&r.MaxTurns, rollout.DefaultMaxTurns)
	fill(&r.Timeout, int(rollout.DefaultTimeout/time.Second))
	fill(&r.Concurrency, 1)
	if r.Route == "" {
		r.Route = RouteChat
	}
	if len(r.Ollama) == 0 && r.OpenAI == "" && r.Route != RouteAgent {
		r.Ollama = []string{"http://127.0.0.1:11434"}
	}
	return r
}

func refuse(where, message, want string) error {
	return &tools.Error{Code: tools.Invalid, Where: where, Message: message, Want: want}
}

// Validate reports the first setting that can not be used. Where is the name
// of the JSON field.
func (r Request) Validate() error {
	switch {
	case r.Model == "":
		return refuse("model", "no model is named", "a name that the server lists (toolgym models)")
	case len(r.Ollama) > 0 && r.OpenAI != "":
		return refuse("openai", "both an Ollama and an OpenAI server are named", "one or the other")
	case r.OpenAI != "" && r.Route != RouteChat:
		return refuse("route", "servers of the OpenAI form have no route "+r.Route, RouteChat)
	case r.Route == RouteAgent && !slices.Contains(Agents(), r.Model):
		return refuse("model", fmt.Sprintf("there is no agent %.40q", r.Model), strings.Join(Agents(), " or "))
	case r.Route == RouteAgent && r.Model == agentOracle && r.Suite != nil:
		return refuse("suite", "the oracle knows environments alone", "another agent, or no suite")
	case r.Route != RouteChat && r.Route != RouteRaw && r.Route != RouteBoth && r.Route != RouteAgent:
		return refuse("route", fmt.Sprintf("unknown route %q", r.Route), "chat, raw, both or agent")
	case r.N < 1:
		return refuse("n", fmt.Sprintf("%d tasks of each level", r.N), "at least 1")
	case r.Limit < 0:
		return refuse("limit", fmt.Sprintf("%d tasks", r.Limit), "at least 1, or 0 for no limit")
	case r.Trials < 1:
		return refuse("trials", fmt.Sprintf("%d trials of each task", r.Trials), "at least 1")
	case r.Concurrency < 1 || r.Concurrency > 1024:
		return refuse("concurrency", fmt.Sprintf("%d trials at a time", r.Concurrency), "between 1 and 1024")
	case r.Timeout < 1:
		return refuse("timeout_s", fmt.Sprintf("%d seconds", r.Timeout), "at least 1")
	case strings.ContainsAny(r.Run, "\n\r\t") || len(r.Run) > 200:
		return refuse("run", "the name is too long or has control characters", "a short name")
	}
	for _, address := range r.addresses() {
		if err := r.config(address).Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (r Request) addresses() []string {
	if r.OpenAI != "" {
		return []string{r.OpenAI}
	}
	return r.Ollama
}

// config is one server as package rollout takes it.
func (r Request) config(address string) rollout.Config {
	return rollout.Config{URL: address, Model: r.Model, NumCtx: r.NumCtx, NumPredict: r.NumPredict, Temperature: r.Temperature,
		MaxTurns: r.MaxTurns, Timeout: time.Duration(r.Timeout) * time.Second}
}

// options are the settings that decide what is measured, as they are kept.
func (r Request) options() (json.RawMessage, error) {
	text, err := json.Marshal(struct {
		NumCtx      int      `json:"num_ctx"`
		NumPredict  int      `json:"num_predict,omitempty"`
		Temperature *float64 `json:"temperature"` // null: the model's own
		MaxTurns    int      `json:"max_turns"`
		Timeout     int      `json:"timeout_s"`
	}{r.NumCtx, r.NumPredict, r.Temperature, r.MaxTurns, r.Timeout})
	if err != nil {
		return nil, fmt.Errorf("encoding options: %w", err)
	}
	return text, nil
}

// sampling is the seed of the first trial of each task; those that follow count
// on from it.
func (r Request) sampling() uint64 {
	if r.Sample != nil {
		return *r.Sample
	}
	return r.Seed
}

func (r Request) routes() []string {
	switch {
	case r.OpenAI != "":
		return []string{RouteOpenAI}
	case r.Route == RouteBoth:
		return []string{RouteChat, RouteRaw}
	}
	return []string{r.Route}
}

// Items makes the request's tasks. A suite with lines that can not be used is
// refused as a whole, with the first of them in the message.
func (r Request) Items(specs tools.Specs) ([]eval.Item, error) {
	var items []eval.Item
	if r.Suite != nil {
		read, problems, err := suite.Read(strings.NewReader(r.Suite.Lines), r.Suite.Name)
		if err != nil {
			return nil, err
		}
		if len(problems) > 0 {
			return nil, refuse(r.Suite.Name, fmt.Sprintf("%d of the file's lines can not be used: %v", len(problems), problems[0]), "a file that --dry-run finds nothing wrong with")
		}
		if len(read) == 0 {
			return nil, refuse(r.Suite.Name, "the file has no questions", "a question a line")
		}
		items = read
	}
	if r.Suite == nil || len(r.Envs) > 0 {
		made, err := suite.Generate(specs, suite.Choice{Envs: r.Envs, Levels: r.Levels, Rules: r.Rules, N: r.N, Seed: r.Seed})
		if err != nil {
			return nil, err
		}
		items = append(items, made...)
	}
	if r.Limit > 0 && len(items) > r.Limit {
		items = items[:r.Limit]
	}
	return items, distinct(items)
}

// distinct refuses a task that stands twice, as a suite named like an
// environment can make it.
func distinct(items []eval.Item) error {
	seen := map[string]bool{}
	for _, item := range items {
		if seen[item.Task.ID] {
			return refuse("suite", fmt.Sprintf("the task %s stands twice", item.Task.ID), "a suite with another name")
		}
		seen[item.Task.ID] = true
	}
	return nil
}
