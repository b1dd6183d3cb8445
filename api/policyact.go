package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"

	"toolgym/api/client"
	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/policy/trained"
	"toolgym/tools"
)

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
