package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/tools"
)

// An Env describes an environment in GET /v1/envs.
type Env struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Rules       []string  `json:"rules" doc:"The rule sets; the first is the default."`
	Levels      []string  `json:"levels" doc:"The levels of the default rules; the first is the default."`
	Tools       tools.Set `json:"tools" doc:"What is offered at the default level."`
}

// Envs is the answer of GET /v1/envs.
type Envs struct {
	Envs []Env `json:"envs"`
}

// Describe lists environments as GET /v1/envs does.
func Describe(specs tools.Specs) Envs {
	list := make([]Env, len(specs))
	for i, spec := range specs {
		list[i] = Env{Name: spec.Name, Description: spec.Description, Rules: spec.Rules, Levels: spec.Levels,
			Tools: append(tools.Set{}, spec.Tools("", "")...)}
	}
	return Envs{Envs: list}
}

// Tools is the answer of GET /v1/envs/{env}/tools.
type Tools struct {
	Tools tools.Set `json:"tools"`
}

// Tasks is the answer of GET /v1/envs/{env}/tasks.
type Tasks struct {
	Tasks []tools.Task `json:"tasks"`
}

// Arguments is the body of POST /v1/tools/{name}/calls.
type Arguments struct {
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"The tool's arguments, an object; absent means none."`
}

// A Start is the body of POST /v1/episodes: a task's id, or its parts.
type Start struct {
	TaskID string  `json:"task_id,omitempty" doc:"env/level/seed, with @documented behind it for the documented rules. Excludes the other fields."`
	Env    string  `json:"env,omitempty"`
	Level  string  `json:"level,omitempty"`
	Seed   *uint64 `json:"seed,omitempty" format:"uint64" nullable:"false" doc:"From 0 to 18446744073709551615."`
	Rules  string  `json:"rules,omitempty" doc:"The environment's first rule set when absent."`
}

// A Call is the body of POST /v1/episodes/{id}/calls.
type Call struct {
	Name      string          `json:"name" minLength:"1"`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"The tool's arguments, an object; absent means none."`
	RequestID string          `json:"request_id,omitempty" minLength:"1" maxLength:"128" doc:"The same id again gives the same answer and no second step."`
}

// A Message is the body of POST /v1/episodes/{id}/messages.
type Message struct {
	Content   string `json:"content" doc:"What the agent says, calling nothing."`
	RequestID string `json:"request_id,omitempty" minLength:"1" maxLength:"128" doc:"The same id again gives the same answer and no second step."`
}

// An Answer is what a call or a message comes to.
type Answer struct {
	Result     *tools.Result `json:"result,omitempty" doc:"Absent after a message."`
	Reward     float64       `json:"reward" doc:"The environment's own reward for this step."`
	Terminated bool          `json:"terminated" doc:"The task has come to its end."`
	Truncated  bool          `json:"truncated" doc:"The limit cut the episode off."`
	Step       int           `json:"step" doc:"The number of this step, from 1."`
}

// A State is an episode as the server holds it. The trajectory is there only
// when the state was asked for.
type State struct {
	ID          string            `json:"id"`
	Task        tools.Task        `json:"task"`
	Observation json.RawMessage   `json:"observation" doc:"What is observed at first, an object."`
	Tools       tools.Set         `json:"tools"`
	Step        int               `json:"step" doc:"How many steps have been made."`
	Terminated  bool              `json:"terminated"`
	Truncated   bool              `json:"truncated"`
	ExpiresAt   time.Time         `json:"expires_at" doc:"When the episode is given up, unless it is used before."`
	Trajectory  *tools.Trajectory `json:"trajectory,omitempty"`
}

// A Summary is a line of GET /v1/episodes.
type Summary struct {
	ID         string    `json:"id"`
	TaskID     string    `json:"task_id"`
	Step       int       `json:"step"`
	Return     float64   `json:"return" doc:"The sum of the steps' rewards."`
	Terminated bool      `json:"terminated"`
	Truncated  bool      `json:"truncated"`
	ExpiresAt  time.Time `json:"expires_at"`
}

// A Page is the answer of GET /v1/episodes, in the order of creation.
type Page struct {
	Episodes   []Summary `json:"episodes"`
	NextCursor string    `json:"next_cursor,omitempty" doc:"Where the next page begins; absent on the last."`
}

// An Audit is the body of POST /v1/audit.
type Audit struct {
	Rubric *grpo.Rubric `json:"rubric,omitempty" nullable:"false" doc:"The default rubric when absent."`
}

// A PolicyRun is a training of the policy. Config and Result stay as they came:
// package policy/train has their types, and needs far more than a client does.
type PolicyRun struct {
	ID      string          `json:"id"`
	State   string          `json:"state"` // running, paused, done, cancelled or failed
	Config  json.RawMessage `json:"config"`
	Created time.Time       `json:"created_at"`
	Updates int             `json:"updates"` // made so far
	Result  json.RawMessage `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"` // why it failed, or is paused by a full disk
	Owner   string          `json:"owner,omitempty"` // the token that it belongs to
}

// Plans is the answer of POST /v1/policy/act.
type Plans struct {
	TaskID  string   `json:"task_id"`
	Context []string `json:"context" doc:"The task as the policy reads it."`
	Plans   []Plan   `json:"plans"`
}

// A Plan is what the policy would do, and what it would come to.
type Plan struct {
	Tokens  []string  `json:"tokens" doc:"Those that were played."`
	Probs   []float64 `json:"probs" doc:"Of each token, given those before it."`
	Values  []float64 `json:"values" doc:"What the critic expects at each token."`
	Reward  float64   `json:"reward"`
	Success bool      `json:"success"`
}

// An Evaluation is an evaluation of a language model. Its tasks are left out; a
// summary is there where it was asked for by name.
type Evaluation struct {
	eval.Run
	Planned int           `json:"planned"` // trials of the plan
	Kept    int           `json:"kept"`    // trials that will not be asked again
	Failed  int           `json:"failed"`  // trials so far that only the infrastructure failed
	Owner   string        `json:"owner,omitempty"`
	State   string        `json:"state"` // running, done, stopped or failed
	Error   string        `json:"error,omitempty"`
	Summary *eval.Summary `json:"summary,omitempty"`
}

// A Problem is the body of every refusal: RFC 9457 problem details, its type
// always about:blank and therefore left out, with a code, the request's id and
// one [Flaw] for each thing that is wrong.
type Problem struct {
	Title     string `json:"title" doc:"The status in words." example:"Unprocessable Entity"`
	Status    int    `json:"status" example:"422"`
	Detail    string `json:"detail,omitempty" doc:"What is wrong and what would be right."`
	Code      string `json:"code,omitempty" doc:"The kind of refusal: invalid, unauthorized, forbidden, not_found, conflict, gone, too_large, exhausted or unavailable. Absent when the fault is the server's."`
	RequestID string `json:"request_id,omitempty" doc:"The X-Request-Id of the exchange; the server's log names it too."`
	Errors    []Flaw `json:"errors,omitempty" doc:"Each thing that is wrong with the request."`
}

// A Flaw is one thing that is wrong with a request, and where: a JSON pointer
// into the body as a URI fragment, or the name of a parameter.
type Flaw struct {
	Detail    string `json:"detail"`
	Pointer   string `json:"pointer,omitempty" example:"#/seed"`
	Parameter string `json:"parameter,omitempty" doc:"A path or query parameter, or a header."`
	Want      string `json:"want,omitempty" doc:"What would be right."`
}

// Err is the error that the problem stands for: an [*tools.Error] where the
// caller or the state of things is to blame, an ordinary error otherwise.
func (p Problem) Err() error {
	if p.Code == "" {
		return fmt.Errorf("the server answered %d %s: %s (request id %s)", p.Status, p.Title, p.Detail, p.RequestID)
	}
	e := &tools.Error{Code: p.Code, Message: p.Detail}
	if len(p.Errors) == 1 {
		flaw := p.Errors[0]
		e.Message, e.Where, e.Want = flaw.Detail, strings.TrimPrefix(flaw.Pointer, "#")+flaw.Parameter, flaw.Want
	}
	return e
}

// PolicyRunStart is the body of POST /v1/policy/runs. Every field may be absent.
type PolicyRunStart struct {
	Env        string   `json:"env,omitempty"`        // default arithmetic
	Stages     []string `json:"stages,omitempty"`     // levels of the environment
	Rules      string   `json:"rules,omitempty"`      // sound (default) or documented
	Curriculum string   `json:"curriculum,omitempty"` // mastery (default) or documented
	Algo       string   `json:"algo,omitempty"`       // a2c (default) or grpo
	Pool       string   `json:"pool,omitempty"`       // ordered (default), own or batch
	Seed       uint64   `json:"seed,omitempty"`
	Updates    int      `json:"updates,omitempty"` // maximum number of updates; default of the curriculum
	Beta       *float64 `json:"beta,omitempty"`    // KL coefficient of grpo; default 0.05
	Epsilon    *float64 `json:"epsilon,omitempty"` // clip range of grpo; default 0.2
}

// EvaluationRequest is the body of POST /v1/evals. Only Model is required.
type EvaluationRequest struct {
	Run         string   `json:"run,omitempty"` // name; default the model and the time
	Model       string   `json:"model"`
	Ollama      []string `json:"ollama,omitempty"` // addresses of servers that share the work
	OpenAI      string   `json:"openai,omitempty"` // or the address of one server with OpenAI's API
	Route       string   `json:"route,omitempty"`  // chat (default), raw, both or agent
	Envs        []string `json:"envs,omitempty"`
	Levels      []string `json:"levels,omitempty"`
	Rules       string   `json:"rules,omitempty"`
	Suite       *Suite   `json:"suite,omitempty"`
	N           int      `json:"n,omitempty"`      // tasks per level
	Limit       int      `json:"limit,omitempty"`  // maximum number of tasks; 0 means unlimited
	Trials      int      `json:"trials,omitempty"` // per task
	Seed        uint64   `json:"seed"`             // of the first task of each level, and of sampling
	SampleSeed  *uint64  `json:"sample_seed,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	NumCtx      int      `json:"num_ctx,omitempty"`
	NumPredict  int      `json:"num_predict,omitempty"`
	MaxTurns    int      `json:"max_turns,omitempty"`
	Timeout     int      `json:"timeout_s,omitempty"` // per turn, in seconds
	MaxReply    int      `json:"max_reply_bytes,omitempty"`
	Concurrency int      `json:"concurrency,omitempty"`
	Resume      bool     `json:"resume,omitempty"`
}

// Suite is a file of questions in an [EvaluationRequest]; see package suite.
type Suite struct {
	Name  string `json:"name"`
	Lines string `json:"lines"`
}
