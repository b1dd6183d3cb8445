package train

import (
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// Explanation is what a policy makes of a task, token by token.
type Explanation struct {
	Task    string    `json:"task"`
	Stage   int       `json:"stage"`
	Context []string  `json:"context"`
	Target  string    `json:"target,omitempty"`  // the answer that is rewarded, where there is one
	Optimal int       `json:"optimal,omitempty"` // calls of a shortest solution, where it is known
	Plan    []string  `json:"plan"`              // the tokens that were played
	Probs   []float64 `json:"probs"`             // of each token, given those before it
	Values  []float64 `json:"values"`            // what the critic expects at each
	Reward  float64   `json:"reward"`
	Success bool      `json:"success"`
}

// targeted is an Enumerator whose tasks ask for a number.
type targeted interface{ Target() int }

// Explain plans and plays n tasks of a level greedily, those of the seeds from
// seed on. The pool batch sees all of them at once. What the network can not
// read is an [*tools.Error].
func Explain(net *policy.Net, spec tools.Spec, rules, level string, seed uint64, n int) ([]Explanation, error) {
	if n < 1 {
		return nil, refusal.New("n", "at least 1", "%d tasks", n)
	}
	if spec.Enumerate == nil {
		return nil, refusal.New("env", "an environment with plans, such as arithmetic or gridworld", "%s can not be planned", spec.Name)
	}
	env, prompts := spec.Enumerate(), make([]policy.Prompt, n)
	for i := range prompts {
		if err := env.Start(rules, level, seed+uint64(i)); err != nil {
			return nil, err
		}
		if err := prompts[i].Read(env, level); err != nil {
			return nil, err
		}
	}
	plans, err := policy.NewActor(net).Plan(prompts, nil)
	if err != nil {
		return nil, err
	}
	list := make([]Explanation, n)
	for i, plan := range plans {
		task, err := spec.Task(rules, level, seed+uint64(i))
		if err != nil {
			return nil, err
		}
		if list[i], err = explain(env, task, prompts[i], plan); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// explain plays one plan.
func explain(env tools.Enumerator, task tools.Task, prompt policy.Prompt, plan policy.Plan) (Explanation, error) {
	if err := env.Start(task.Rules, task.Level, task.Seed); err != nil {
		return Explanation{}, err
	}
	e := Explanation{Task: task.ID, Stage: prompt.Stage, Context: texts(prompt.Context), Optimal: task.Optimal}
	if t, ok := env.(targeted); ok {
		e.Target = strconv.Itoa(t.Target())
	}
	o := play(env, plan.Tokens)
	e.Plan, e.Probs, e.Values = texts(plan.Tokens[:o.length]), plan.Probs[:o.length], plan.Values[:o.length]
	e.Reward, e.Success = o.reward, o.success
	return e, nil
}

// texts writes tokens as people read them: 7, [MUL].
func texts(tokens []int) []string {
	words := make([]string, len(tokens))
	for i, token := range tokens {
		words[i] = arithmetic.TokenText(token)
	}
	return words
}
