package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/internal/ollamatest"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// scripted is a model's server: what these tests need is the way, not the model.
// The real Ollama is evaluated in packages grpo/rollout and internal/evaluation.
func scripted(t testing.TB, hold chan struct{}) string {
	t.Helper()
	return ollamatest.Parrot{Model: "mute:latest", Says: "I do not know.", Hold: hold}.Serve(t)
}

func TestEvaluationFromStartToEnd(t *testing.T) {
	ollama := scripted(t, nil)
	f := serve(t, api.Config{Data: t.TempDir(), Ollama: []string{ollama}, Specs: tools.Specs{arithmetic.Spec()}})
	doc := readContract(t, f)
	models := f.ask("GET", "/v1/models", "")
	doc.check(t, "GET", "/v1/models", models)
	if models.status != http.StatusOK || !strings.Contains(models.body, `"mute:latest"`) {
		t.Errorf("%d %s", models.status, models.body)
	}
	begun := f.ask("POST", "/v1/evals", `{"model":"mute","run":"first try","levels":["0"],"n":3,"seed":1}`)
	doc.check(t, "POST", "/v1/evals", begun)
	path := begun.header.Get("Location")
	if begun.status != http.StatusCreated || path != "/v1/evals/first%20try" {
		t.Fatalf("%d %s %s", begun.status, path, begun.body)
	}
	events := f.watch(path, "", toTheEnd)
	if len(events) != 4 || events[3].name != "end" || !strings.Contains(events[3].data, `"state":"done"`) {
		t.Fatalf("events %v", events)
	}
	if rest := f.watch(path, "2", toTheEnd); len(rest) != 2 || rest[0] != events[2] {
		t.Errorf("from behind the second: %v", rest)
	}
	state := f.ask("GET", path, "")
	doc.check(t, "GET", path, state)
	if !strings.Contains(state.body, `"planned":3,"kept":3`) || !strings.Contains(state.body, `"summary":{`) {
		t.Errorf("%d %s", state.status, state.body)
	}
	doc.check(t, "GET", "/v1/evals", f.ask("GET", "/v1/evals", ""))
	for format, want := range map[string]string{"": "{", "text": "mute", "md": "#", "html": "<!", "json": "{", "csv": ",", "junit": "<?xml"} {
		if got := f.ask("GET", path+"/report?format="+format, ""); got.status != http.StatusOK || !strings.Contains(got.body, want) {
			t.Errorf("report as %q: %d %.200s", format, got.status, got.body)
		}
	}
	exported := f.ask("GET", path+"/export.ndjson", "").body
	if strings.Count(exported, "\n") != 4 {
		t.Errorf("exported: %s", exported)
	}
	for line := range strings.Lines(exported) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line is %s", line)
		}
	}
	if got := f.ask("DELETE", path, ""); got.status != http.StatusNoContent {
		t.Errorf("deleting: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", path, ""); got.status != http.StatusNotFound {
		t.Errorf("afterwards: %d", got.status)
	}
}

// TestEvaluationIsCancelledAndGoneOnWith, by another server on the same data.
func TestEvaluationIsCancelledAndGoneOnWith(t *testing.T) {
	hold := make(chan struct{})
	config := api.Config{Data: t.TempDir(), Ollama: []string{scripted(t, hold)}, Specs: tools.Specs{arithmetic.Spec()}}
	f := serve(t, config)
	const request = `{"model":"mute","run":"r","levels":["0"],"n":4,"seed":1%s}`
	path := f.ask("POST", "/v1/evals", fmt.Sprintf(request, "")).header.Get("Location")
	hold <- struct{}{}
	f.watch(path, "", func(event) bool { return true })
	if got := f.ask("POST", "/v1/evals", fmt.Sprintf(request, `,"resume":true`)); got.status != http.StatusConflict {
		t.Errorf("going on with what runs: %d %s", got.status, got.body)
	}
	if got := f.ask("POST", "/v1/evals", `{"model":"mute","run":"other"}`); got.status != http.StatusServiceUnavailable {
		t.Errorf("another: %d %s", got.status, got.body)
	}
	if got := f.ask("DELETE", path, ""); got.status != http.StatusNoContent {
		t.Errorf("cancelling: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", path, ""); !strings.Contains(got.body, `"state":"stopped"`) || !strings.Contains(got.body, `"kept":1,`) {
		t.Errorf("cancelled: %s", got.body)
	}
	f = f.again(t, config)
	close(hold)
	if got := f.ask("POST", "/v1/evals", fmt.Sprintf(request, `,"resume":true`)); got.status != http.StatusCreated {
		t.Fatalf("going on: %d %s", got.status, got.body)
	}
	if events := f.watch(path, "", toTheEnd); len(events) != 5 || !strings.Contains(events[4].data, `"state":"done"`) {
		t.Errorf("events %v", events)
	}
}

// TestEvaluationSettings: what makes no sense is refused at once, at the field of
// the request, and not after its billion tasks are made or when there is room.
func TestEvaluationSettings(t *testing.T) {
	hold := make(chan struct{})
	f := serve(t, api.Config{Data: t.TempDir(), Ollama: []string{scripted(t, hold)}, Specs: tools.Specs{arithmetic.Spec()}, MaxEvals: 1})
	agents := serve(t, api.Config{Data: t.TempDir(), Specs: tools.Specs{arithmetic.Spec()}})
	busy := f.ask("POST", "/v1/evals", `{"model":"mute","run":"busy","levels":["0"],"n":1}`)
	if busy.status != http.StatusCreated {
		t.Fatalf("%d %s", busy.status, busy.body)
	}
	for _, test := range []struct {
		name, settings, place string
		status                int
	}{
		{"a billion tasks", `"n":1000000000`, "#/n", 422},
		{"ten thousand tasks of each of eight levels", `"n":10000`, "#/n", 422},
		{"more trials in all than are kept", `"n":1000,"levels":["0"],"trials":1001`, "#/trials", 422},
		{"seconds that overflow", `"timeout_s":9000000000000000000`, "#/timeout_s", 422},
		{"below zero degrees", `"temperature":-1`, "#/temperature", 422},
		{"no context", `"num_ctx":-1`, "#/num_ctx", 422},
		{"an unknown level", `"levels":["9"]`, "#/levels", 422},
		{"an unknown environment", `"envs":["chess"]`, "#/envs", 404},
		{"a name that is a formula", `"run":"=1+1"`, "#/run", 422},
		{"a name that turns the text around it", `"run":"a\u202eb"`, "#/run", 422},
		{"a name with a line feed", `"run":"a\nb"`, "#/run", 422},
		{"such a name, to go on with what never began", `"run":"=1","resume":true`, "#/run", 422},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := agents.ask("POST", "/v1/evals", `{"model":"random","route":"agent",`+test.settings+`}`)
			if got.status != test.status || !strings.Contains(got.body, `"pointer":"`+test.place+`"`) {
				t.Errorf("%d %s, want %d at %s", got.status, got.body, test.status, test.place)
			}
		})
	}
	if got := f.ask("POST", "/v1/evals", `{"model":"mute","n":-1}`); got.status != http.StatusUnprocessableEntity {
		t.Errorf("of a server without room: %d %s", got.status, got.body)
	}
	close(hold)
}

// TestNoServerIsAskedUnasked: a server that was started without Ollama servers
// asks none, not even the one that toolgym eval would.
func TestNoServerIsAskedUnasked(t *testing.T) {
	data := t.TempDir()
	before := serve(t, api.Config{Data: data, Ollama: []string{scripted(t, nil)}, Specs: tools.Specs{arithmetic.Spec()}})
	before.watch(before.ask("POST", "/v1/evals", `{"model":"mute","run":"asked","levels":["0"],"n":1}`).header.Get("Location"), "", toTheEnd)
	f := before.again(t, api.Config{Data: data, Specs: tools.Specs{arithmetic.Spec()}})
	for _, body := range []string{`{"model":"mute"}`, `{"model":"mute","route":"raw"}`, `{"model":"mute","run":"asked","resume":true}`} {
		if got := f.ask("POST", "/v1/evals", body); got.status != http.StatusConflict || !strings.Contains(got.body, "started without an Ollama server") {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	begun := f.ask("POST", "/v1/evals", `{"model":"idle","route":"agent","run":"idle","levels":["0"],"n":1}`)
	f.watch(begun.header.Get("Location"), "", toTheEnd)
	if got := f.ask("POST", "/v1/evals", `{"model":"","run":"idle","resume":true}`); got.status != http.StatusCreated {
		t.Errorf("an agent goes on: %d %s", got.status, got.body)
	}
}

func TestEvaluationRefusals(t *testing.T) {
	f := serve(t, api.Config{Data: t.TempDir(), Ollama: []string{scripted(t, nil)}, Specs: tools.Specs{arithmetic.Spec()}})
	for body, want := range map[string]int{
		`{"model":"mute","ollama":["http://169.254.169.254"]}`: 403, `{"model":"mute","openai":"http://127.0.0.1:1"}`: 403,
		`{"model":""}`: 422, `{}`: 422, `{"model":"mute","levels":["9"]}`: 422, `{"model":"mute","colour":1}`: 422, `{"model":"nobody"}`: 503,
	} {
		if got := f.ask("POST", "/v1/evals", body); got.status != want {
			t.Errorf("%s: %d, want %d: %s", body, got.status, want, got.body)
		}
	}
	for _, path := range []string{"/v1/evals/x", "/v1/evals/x/events", "/v1/evals/x/report", "/v1/evals/x/export.ndjson"} {
		if got := f.ask("GET", path, ""); got.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := f.ask("GET", "/v1/evals/x/report?format=pdf", ""); got.status != http.StatusUnprocessableEntity {
		t.Errorf("report as PDF: %d", got.status)
	}
	forgetful := serve(t, api.Config{})
	if got := forgetful.ask("GET", "/v1/evals", ""); got.status != http.StatusConflict {
		t.Errorf("without a database: %d", got.status)
	}
}

// TestEvaluationsBelongToTheirToken: other people's do not exist, whatever is
// done; those of nobody are the administrator's.
func TestEvaluationsBelongToTheirToken(t *testing.T) {
	config := api.Config{Data: t.TempDir(), Ollama: []string{scripted(t, nil)}, Specs: tools.Specs{arithmetic.Spec()}}
	const request = `{"model":"mute","run":%q,"levels":["0"],"n":2,"seed":1%s}`
	f := serve(t, config) // without tokens: what it makes is nobody's
	f.watch(f.ask("POST", "/v1/evals", fmt.Sprintf(request, "nobody's", "")).header.Get("Location"), "", toTheEnd)
	if err := f.server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	config.Tokens = []api.Token{token(t, "tom", api.Train), token(t, "tim", api.Train), token(t, "root", api.Admin)}
	f = serve(t, config)
	for _, name := range []string{"tom", "tim"} {
		got := f.ask("POST", "/v1/evals", fmt.Sprintf(request, name+"'s", ""), bearer(name))
		if got.status != http.StatusCreated || !strings.Contains(got.body, fmt.Sprintf(`"owner":%q`, name)) {
			t.Fatalf("%d %s", got.status, got.body)
		}
		c := speaker(t, f.url, secretOf(name))
		for _, err := range c.WatchEval(t.Context(), name+"'s", 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, want := range map[string][]string{"tom": {"tom's"}, "tim": {"tim's"}, "root": {"tim's", "tom's", "nobody's"}} {
		list, err := speaker(t, f.url, secretOf(name)).Evals(t.Context())
		var names []string
		for _, e := range list {
			names = append(names, e.Name)
		}
		if diff := cmp.Diff(want, names); err != nil || diff != "" {
			t.Errorf("%s sees %v: %v", name, names, err)
		}
	}
	for _, path := range []string{"/tom's", "/nobody's"} {
		for _, ask := range []string{"GET ", "GET /events", "GET /report", "GET /export.ndjson", "GET /compare?with=tim's", "DELETE "} {
			method, rest, _ := strings.Cut(ask, " ")
			got := f.ask(method, "/v1/evals"+path+rest, "", bearer("tim"))
			if missing := f.ask(method, "/v1/evals/x"+rest, "", bearer("tim")); got.status != http.StatusNotFound || shape(got) != shape(missing) {
				t.Errorf("%s: %s, and of none %s", path+rest, got.body, missing.body)
			}
		}
	}
	if got := f.ask("GET", "/v1/evals/tim's/compare?with=tom's", "", bearer("tim")); got.status != http.StatusNotFound {
		t.Errorf("compared with another's: %d %s", got.status, got.body)
	}
	for _, body := range []string{fmt.Sprintf(request, "tom's", `,"resume":true`), `{"run":"tom's","resume":true,"model":""}`, `{"run":"x","resume":true,"model":""}`} {
		if got := f.ask("POST", "/v1/evals", body, bearer("tim")); got.status != http.StatusNotFound || strings.Contains(got.body, "toolgym.db") || strings.Contains(got.body, "such as") {
			t.Errorf("going on with %s: %d %s", body, got.status, got.body)
		}
	}
	for _, name := range []string{"tom", "root"} {
		if got := f.ask("GET", "/v1/evals/tom's/report?format=csv", "", bearer(name)); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := f.ask("DELETE", "/v1/evals/nobody's", "", bearer("root")); got.status != http.StatusNoContent {
		t.Errorf("the administrator: %d %s", got.status, got.body)
	}
}

// shape is a refusal without the name that was asked for and the request's id.
func shape(a answer) string {
	var problem client.Problem
	if json.Unmarshal([]byte(a.body), &problem) != nil || len(problem.Errors) != 1 {
		return a.body
	}
	detail, _, _ := strings.Cut(problem.Detail, `"`)
	return fmt.Sprint(a.status, problem.Code, detail, problem.Errors[0].Pointer, problem.Errors[0].Parameter, problem.Errors[0].Want)
}
