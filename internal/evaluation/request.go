package evaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolgym/grpo/eval"
	"toolgym/grpo/eval/suite"
	"toolgym/grpo/rollout"
	"toolgym/internal/modelserver"
	"toolgym/internal/plain"
	"toolgym/internal/refusal"
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
	Timeout     int      `json:"timeout_s,omitempty"`       // of one turn, in seconds
	MaxReply    int      `json:"max_reply_bytes,omitempty"` // of one reply of the server
	Concurrency int      `json:"concurrency,omitempty"`
	Resume      bool     `json:"resume,omitempty"`

	Command []string `json:"command,omitempty"` // that repeats it
	Owner   string   `json:"-"`                 // the token that a new run belongs to; empty for none
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
	fill(&r.MaxReply, rollout.DefaultMaxReply)
	fill(&r.Concurrency, 1)
	if r.Route == "" {
		r.Route = RouteChat
	}
	if len(r.Ollama) == 0 && r.OpenAI == "" && r.Route != RouteAgent {
		r.Ollama = []string{"http://127.0.0.1:11434"}
	}
	return r
}

// What one run may ask for is bounded, since all of its tasks are made, and kept,
// before the first of them is played.
const (
	mostTrials  = 1_000_000 // in all
	mostNames   = 64        // of environments, levels and servers
	mostSeconds = 7 * 24 * 3600
	leastReply  = 1 << 10 // bytes
	mostReply   = 64 << 20
)

// Validate reports the first setting that cannot be used. Where is the name
// of the JSON field.
func (r Request) Validate() error {
	switch {
	case r.Model == "":
		return refusal.New("model", "the name of a model on the server (toolgym models)", "missing")
	case len(r.Ollama) > 0 && r.OpenAI != "":
		return refusal.New("openai", "one or the other", "both an Ollama and an OpenAI server are named")
	case r.OpenAI != "" && r.Route != RouteChat:
		return refusal.New("route", RouteChat, "servers of the OpenAI form have no route %s", r.Route)
	case r.Route == RouteAgent && !slices.Contains(Agents(), r.Model):
		return refusal.New("model", strings.Join(Agents(), " or "), "there is no agent %.40q", r.Model)
	case r.Route == RouteAgent && r.Model == agentOracle && r.Suite != nil:
		return refusal.New("suite", "another agent, or no suite", "the oracle knows environments alone")
	case r.Route != RouteChat && r.Route != RouteRaw && r.Route != RouteBoth && r.Route != RouteAgent:
		return refusal.New("route", "chat, raw, both or agent", "unknown route %q", r.Route)
	case r.N < 1 || r.N > suite.MostTasks:
		return refusal.New("n", upTo(suite.MostTasks), "%d tasks of each level", r.N)
	case r.Limit < 0:
		return refusal.New("limit", "at least 1, or 0 for no limit", "%d tasks", r.Limit)
	case r.Trials < 1 || r.Trials > mostTrials:
		return refusal.New("trials", upTo(mostTrials), "%d trials of each task", r.Trials)
	case r.Concurrency < 1 || r.Concurrency > 1024:
		return refusal.New("concurrency", upTo(1024), "%d trials at a time", r.Concurrency)
	case r.Timeout < 1 || r.Timeout > mostSeconds:
		return refusal.New("timeout_s", upTo(mostSeconds), "%d seconds", r.Timeout)
	case r.MaxReply < leastReply || r.MaxReply > mostReply:
		return refusal.New("max_reply_bytes", fmt.Sprintf("between %d and %d", leastReply, mostReply), "%d bytes of one reply", r.MaxReply)
	}
	if !r.Resume { // a run of before may have another name
		if err := plain.Name("run", r.Run); err != nil {
			return err
		}
	}
	if len(r.Envs) > mostNames || len(r.Levels) > mostNames || len(r.Ollama) > mostNames {
		return refusal.New("", fmt.Sprintf("at most %d environments, levels and servers", mostNames), "too many names")
	}
	for _, address := range r.addresses() {
		if err := r.config(address).Validate(); err != nil {
			return refusal.Relocate(err, r.field)
		}
	}
	return nil
}

// field is the field that a setting of a server comes from.
func (r Request) field(setting string) string {
	switch {
	case setting == "url" && r.OpenAI != "":
		return "openai"
	case setting == "url":
		return "ollama"
	case setting == "timeout":
		return "timeout_s"
	}
	return setting
}

func upTo(most int) string { return fmt.Sprintf("between 1 and %d", most) }

// addresses are the servers that are asked; an agent asks none, and its settings
// are checked all the same.
func (r Request) addresses() []string {
	switch {
	case r.OpenAI != "":
		return []string{r.OpenAI}
	case len(r.Ollama) == 0:
		return []string{"http://127.0.0.1:11434"}
	}
	return r.Ollama
}

// config is one server as package rollout takes it.
func (r Request) config(address string) rollout.Config {
	return rollout.Config{URL: address, Model: r.Model, NumCtx: r.NumCtx, NumPredict: r.NumPredict, Temperature: r.Temperature,
		MaxTurns: r.MaxTurns, Timeout: time.Duration(r.Timeout) * time.Second, MaxReply: int64(r.MaxReply)}
}

// withoutCredentials is the request as it is kept and reported: users and
// passwords are left out of the addresses. A run with such an address is gone
// on with by naming it again.
func (r Request) withoutCredentials() Request {
	r.Ollama = slices.Clone(r.Ollama)
	for i, address := range r.Ollama {
		r.Ollama[i] = modelserver.Display(address)
	}
	if r.OpenAI != "" {
		r.OpenAI = modelserver.Display(r.OpenAI)
	}
	return r
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

// Items makes the request's tasks. A suite with lines that cannot be used is
// refused as a whole, with the first of them in the message.
func (r Request) Items(ctx context.Context, specs tools.Specs) ([]eval.Item, error) {
	var items []eval.Item
	if r.Suite != nil {
		read, problems, err := suite.Read(ctx, strings.NewReader(r.Suite.Lines), r.Suite.Name)
		if err != nil {
			return nil, err
		}
		if len(problems) > 0 {
			return nil, refusal.New(r.Suite.Name, "a file that --dry-run finds nothing wrong with", "%d of the file's lines cannot be used: %v", len(problems), problems[0])
		}
		if len(read) == 0 {
			return nil, refusal.New(r.Suite.Name, "a question a line", "the file has no questions")
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
			return refusal.New("suite", "a suite with another name", "the task %s stands twice", item.Task.ID)
		}
		seen[item.Task.ID] = true
	}
	return nil
}
