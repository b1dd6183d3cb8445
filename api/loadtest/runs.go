package main

import (
	"encoding/json"
	"net/http"
)

// runAttacks are trainings and evaluations that ask for much and are cancelled,
// and settings that make no sense. A training or an evaluation that is let go on
// costs what it costs: the role train may do that.
func runAttacks() []attack {
	refused := []int{400, 403, 404, 409, 422}
	settings := func(name, path string, bodies ...string) attack {
		return attack{name: name, target: "settings", accept: refused, send: func(a *attacker) {
			a.ask(message{http.MethodPost, path, []byte(bodies[a.random.IntN(len(bodies))]), nil})
		}}
	}
	return []attack{
		{name: "trainings that are cancelled", target: "the processor", accept: []int{200, 201, 204, 404, 409}, send: func(a *attacker) {
			bodies := []string{`{"updates":1000000}`, `{"env":"gridworld","stages":["3"],"updates":1000000,"algo":"grpo","beta":10,"epsilon":1}`, `{"env":"gridworld","stages":["0","1","2","3"],"seed":18446744073709551615}`}
			a.begun("/v1/policy/runs", "id", bodies[a.random.IntN(len(bodies))])
		}},
		{name: "evaluations that are cancelled", target: "the processor", accept: []int{200, 201, 204, 404, 409}, send: func(a *attacker) {
			bodies := []string{
				`{"model":"random","route":"agent","envs":["arithmetic"],"levels":["0"],"n":10000,"trials":100,"concurrency":1024}`,
				`{"model":"oracle","route":"agent","envs":["gridworld"],"levels":["4"],"n":2000,"trials":1,"max_turns":1000000,"timeout_s":604800}`,
			}
			a.begun("/v1/evals", "run", bodies[a.random.IntN(len(bodies))])
		}},
		settings("settings of trainings", "/v1/policy/runs", `{"updates":1000001}`, `{"updates":-1}`, `{"updates":1e99}`, `{"beta":1e308,"algo":"grpo"}`, `{"epsilon":-1,"algo":"grpo"}`, `{"stages":["x"]}`, `{"stages":["../../x"]}`,
			`{"env":"../x"}`, `{"seed":18446744073709551616}`, `{"pool":"x"}`, `{"curriculum":"x"}`, `{"beta":0.1}`, `{"stages":[`+times(100_000, `"0"`)+`]}`),
		settings("settings of evaluations", "/v1/evals", `{"model":"random","route":"agent","n":1000000000}`, `{"model":"random","route":"agent","trials":1000000000}`, `{"model":"random","route":"agent","trials":1000000,"n":10000}`,
			`{"model":"random","route":"agent","concurrency":1000000}`, `{"model":"random","route":"agent","n":-1}`, `{"model":"x","route":"agent"}`, `{"model":"x"}`, `{"model":"x","ollama":["http://169.254.169.254/"]}`, `{"model":"x","openai":"http://127.0.0.1:1"}`,
			`{"model":"random","route":"agent","envs":[`+times(100_000, `"arithmetic"`)+`]}`, `{"model":"random","route":"agent","temperature":-1}`, `{"model":"random","route":"agent","num_ctx":-5}`, `{"resume":true,"run":"x","model":""}`,
			`{"model":"random","route":"agent","suite":{"name":"s","lines":"{}"}}`, `{"model":"random","route":"agent","suite":{"name":"arithmetic","lines":"\u0000"}}`),
		settings("settings of scripts", "/v1/export/trl", `{"env":"x"}`, `{"level":"x"}`, `{"learning_rate":1e999}`, `{"seed":-1}`),
		{name: "reports of evaluations that there are not", target: "other people's evaluations", accept: []int{404, 409, 422}, send: func(a *attacker) {
			for _, path := range []string{"/v1/evals/x/report?format=html", "/v1/evals/x/events", "/v1/evals/x/compare?with=y", "/v1/policy/runs/x/plot.svg", "/v1/policy/runs/..%2fx/export.tar", "/v1/policy/runs/x/events"} {
				a.ask(message{http.MethodGet, path, nil, []string{"Last-Event-Id: -1"}})
			}
		}},
	}
}

// begun starts a training or an evaluation, looks at it, and cancels and deletes
// it. It is cancelled also when the phase ends meanwhile.
func (a *attacker) begun(path, field, body string) {
	got := a.ask(message{http.MethodPost, path, []byte(body), nil})
	if got.status != http.StatusCreated {
		return
	}
	at := got.header.Get("Location")
	var state map[string]json.RawMessage
	if err := json.Unmarshal(got.start, &state); err == nil && state[field] == nil {
		a.broken("there is no %s in the answer: %.200s", field, got.start)
	}
	defer a.cancelAt(at)
	a.ask(message{http.MethodGet, at, nil, nil})
	a.ask(message{http.MethodDelete, at, nil, nil})
	a.ask(message{http.MethodDelete, at, nil, nil})
}

// cancelAt deletes what was begun, whatever the limits and the phase: otherwise
// it would go on in the phases without attacks.
func (a *attacker) cancelAt(path string) {
	for range 3 {
		request, err := http.NewRequestWithContext(a.siege.ctx, http.MethodDelete, *a.address.Load()+path, nil)
		if err != nil {
			return
		}
		a.dress(request, message{})
		response, err := a.sender.Do(request)
		if err != nil {
			return
		}
		_ = response.Body.Close()
		if response.StatusCode == http.StatusNotFound {
			return
		}
	}
}

// A cancelling cancels and deletes what was begun when it is closed.
type cancelling struct {
	*attacker
	path string
}

func (c cancelling) Close() error {
	c.cancelAt(c.path)
	return nil
}
