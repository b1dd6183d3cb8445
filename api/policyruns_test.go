package api_test

import (
	"archive/tar"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/api/training"
	"toolgym/internal/sse"
	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

// trainer is a server with something to train on.
func trainer(t *testing.T, config api.Config) *fixture {
	t.Helper()
	config.Specs = tools.Specs{arithmetic.Spec(), tallySpec(nil)}
	return serve(t, config)
}

// startRun starts a run and returns the path of it.
func (f *fixture) startRun(body string, headers ...string) string {
	f.t.Helper()
	got := f.ask("POST", "/v1/policy/runs", body, headers...)
	if got.status != http.StatusCreated || !strings.Contains(got.body, `"state":"running"`) {
		f.t.Fatalf("%d %s", got.status, got.body)
	}
	return got.header.Get("Location")
}

// An event as it came.
type event struct{ id, name, data string }

// watch reads the events of a run, from behind the one that last names, until
// enough says so or the stream ends.
func (f *fixture) watch(path, last string, enough func(event) bool) (got []event) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+path+"/events", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		f.t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	for e, err := range sse.Read(response.Body) {
		if err != nil {
			break // the server has gone
		}
		got = append(got, event{e.ID, e.Name, string(e.Data)})
		if enough(got[len(got)-1]) {
			break
		}
	}
	return got
}

func toTheEnd(event) bool { return false }

func (f *fixture) runState(path string) (state training.State) {
	f.t.Helper()
	got := f.ask("GET", path, "")
	if err := json.Unmarshal([]byte(got.body), &state); err != nil || got.status != http.StatusOK {
		f.t.Fatalf("%d %s", got.status, got.body)
	}
	return state
}

func TestPolicyRunFromStartToEnd(t *testing.T) {
	const updates = 6
	f := trainer(t, api.Config{Data: t.TempDir()})
	doc := readContract(t, f)
	path := f.startRun(fmt.Sprintf(`{"algo":"grpo","stages":["0"],"seed":1,"updates":%d}`, updates))
	all := f.watch(path, "", toTheEnd)
	if len(all) != updates+1 || all[updates].name != "end" || !strings.Contains(all[updates].data, `"state":"done"`) {
		t.Fatalf("events %v", all)
	}
	for i, e := range all[:updates] {
		if e.id != fmt.Sprint(i+1) || !strings.Contains(e.data, fmt.Sprintf(`"update":%d,`, i+1)) {
			t.Errorf("event %d: %v", i+1, e)
		}
	}
	if rest := f.watch(path, "4", toTheEnd); len(rest) != 3 || rest[0] != all[4] || rest[2] != all[updates] {
		t.Errorf("from behind the fourth: %v", rest)
	}
	state := f.runState(path)
	if state.State != training.Done || state.Updates != updates || state.Result == nil || len(state.Result.Success) != 1 {
		t.Errorf("%+v", state)
	}
	doc.check(t, "GET", path, f.ask("GET", path, ""))
	doc.check(t, "GET", "/v1/policy/runs", f.ask("GET", "/v1/policy/runs", ""))
	for file, want := range map[string]string{"plot.svg": "<svg", "plot.png": "\x89PNG", "telemetry.csv": "update,reward"} {
		if got := f.ask("GET", path+"/"+file, ""); got.status != http.StatusOK || !strings.Contains(got.body[:min(400, len(got.body))], want) {
			t.Errorf("%s: %d %.100q", file, got.status, got.body)
		}
	}
	if table := f.ask("GET", path+"/telemetry.csv", "").body; strings.Count(table, "\n") != updates+1 {
		t.Errorf("the table is %s", table)
	}
	archive := tar.NewReader(strings.NewReader(f.ask("GET", path+"/export.tar", "").body))
	var names []string
	for header, err := archive.Next(); err == nil; header, err = archive.Next() {
		names = append(names, header.Name)
	}
	for _, want := range []string{"run.json", "telemetry.jsonl", "policy.safetensors", "policy.json"} {
		if !slices.Contains(names, want) {
			t.Errorf("the archive has %v, not %s", names, want)
		}
	}
	f.acts(t, doc, state.ID)
	if got := f.ask("POST", path+"/resume", ""); got.status != http.StatusConflict {
		t.Errorf("resuming what is done: %d", got.status)
	}
	if got := f.ask("DELETE", path, ""); got.status != http.StatusNoContent {
		t.Errorf("deleting it: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", path, ""); got.status != http.StatusNotFound {
		t.Errorf("afterwards: %d", got.status)
	}
}

// acts lets the run's policy plan.
func (f *fixture) acts(t *testing.T, doc *contract, run string) {
	t.Helper()
	ask := func(body string) answer { return f.ask("POST", "/v1/policy/act", body) }
	greedy := ask(fmt.Sprintf(`{"task_id":"arithmetic/0/17","run":%q}`, run))
	doc.check(t, "POST", "/v1/policy/act", greedy)
	if greedy.status != http.StatusOK || strings.Count(greedy.body, `"tokens"`) != 1 {
		t.Fatalf("%d %s", greedy.status, greedy.body)
	}
	if again := ask(fmt.Sprintf(`{"task_id":"arithmetic/0/17","run":%q,"greedy":true}`, run)); again.body != greedy.body {
		t.Errorf("the same again: %s, was %s", again.body, greedy.body)
	}
	drawn := ask(fmt.Sprintf(`{"task_id":"arithmetic/0/17","run":%q,"samples":16,"seed":3}`, run))
	if strings.Count(drawn.body, `"tokens"`) != 16 || drawn.body != ask(fmt.Sprintf(`{"task_id":"arithmetic/0/17","run":%q,"samples":16,"seed":3}`, run)).body {
		t.Errorf("drawn: %d %s", drawn.status, drawn.body)
	}
	if own := ask(`{"task_id":"arithmetic/0/17"}`); own.status != http.StatusOK || own.body == greedy.body || !strings.Contains(own.body, `"success":true`) {
		t.Errorf("by the policy in the binary: %d %s", own.status, own.body)
	}
	for body, want := range map[string]int{
		`{"task_id":"arithmetic/4/17"}`: 409, `{"task_id":"arithmetic/0/17@documented"}`: 409, `{"task_id":"arithmetic/0/17","run":"x"}`: 404, `{"task_id":"tally/0/1","run":"` + run + `"}`: 409,
		`{"task_id":"arithmetic/0/17@documented","run":"` + run + `"}`: 409, `{"task_id":"arithmetic/large/1","run":"` + run + `"}`: 422,
		`{"task_id":"arithmetic/0/17","run":"` + run + `","samples":257}`: 422, `{"task_id":"arithmetic/0/17","run":"` + run + `","samples":2,"greedy":true}`: 422,
		`{"task_id":"no/0/1"}`: 404,
	} {
		if got := ask(body); got.status != want {
			t.Errorf("%s: %d, want %d: %s", body, got.status, want, got.body)
		}
	}
}

func TestPolicyRunIsHeldAndCancelled(t *testing.T) {
	f := trainer(t, api.Config{MaxRuns: 1})
	path := f.startRun(`{"stages":["0"],"updates":100000}`)
	f.watch(path, "", func(event) bool { return true })
	if got := f.ask("POST", path+"/pause", ""); got.status != http.StatusOK || !strings.Contains(got.body, `"state":"paused"`) {
		t.Errorf("pausing: %d %s", got.status, got.body)
	}
	if got := f.ask("GET", path+"/export.tar", ""); got.status != http.StatusConflict {
		t.Errorf("exporting: %d", got.status)
	}
	if got := f.ask("POST", path+"/pause", ""); got.status != http.StatusConflict {
		t.Errorf("pausing again: %d", got.status)
	}
	if got := f.ask("POST", "/v1/policy/runs", `{}`); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("another run: %d %s", got.status, got.body)
	}
	if got := f.ask("POST", path+"/resume", ""); got.status != http.StatusOK || !strings.Contains(got.body, `"state":"running"`) {
		t.Errorf("resuming: %d %s", got.status, got.body)
	}
	seen := f.runState(path).Updates
	f.watch(path, fmt.Sprint(seen), func(event) bool { return true }) // it goes on
	if got := f.ask("DELETE", path, ""); got.status != http.StatusNoContent {
		t.Errorf("cancelling: %d %s", got.status, got.body)
	}
	if state := f.runState(path); state.State != training.Cancelled || state.Error != "" {
		t.Errorf("afterwards: %+v", state)
	}
	events := f.watch(path, "", toTheEnd)
	if last := events[len(events)-1]; last.name != "end" || !strings.Contains(last.data, `"state":"cancelled"`) {
		t.Errorf("the last event: %v", last)
	}
}

// TestPolicyRunOutlivesTheServer: it is paused, and goes on from its checkpoint.
func TestPolicyRunOutlivesTheServer(t *testing.T) {
	config := api.Config{Data: t.TempDir(), Specs: tools.Specs{arithmetic.Spec()}}
	f := serve(t, config)
	path := f.startRun(`{"stages":["0"],"updates":100000}`)
	f.watch(path, "", func(e event) bool { return e.id == "3" })
	f = f.again(t, config)
	state := f.runState(path)
	if state.State != training.Paused || state.Updates < 3 {
		t.Fatalf("%+v", state)
	}
	if got := f.ask("POST", path+"/resume", ""); got.status != http.StatusOK {
		t.Fatalf("resuming: %d %s", got.status, got.body)
	}
	next := f.watch(path, fmt.Sprint(state.Updates), func(event) bool { return true })
	if want := fmt.Sprintf(`"update":%d,`, state.Updates+1); !strings.Contains(next[0].data, want) {
		t.Errorf("the next event %v, want %s", next[0], want)
	}
}

func TestPolicyRunRefusals(t *testing.T) {
	f := trainer(t, api.Config{Tokens: []api.Token{token(t, "tom", api.Train), token(t, "tim", api.Train), token(t, "alice", api.Play)}})
	for body, want := range map[string]int{
		`{"env":"chess"}`: 404, `{"env":"tally"}`: 422, `{"stages":["9"]}`: 422, `{"stages":["large"]}`: 422, `{"algo":"ppo"}`: 422, `{"rules":"lax"}`: 422,
		`{"pool":"max"}`: 422, `{"curriculum":"none"}`: 422, `{"updates":0}`: 422, `{"updates":1000001}`: 422, `{"seed":-1}`: 422, `{"sed":1}`: 422, `[]`: 422,
		`{"beta":0.1}`: 422, `{"epsilon":0.1}`: 422, `{"algo":"grpo","beta":-1}`: 422, `{"algo":"grpo","epsilon":2}`: 422, `{"algo":"grpo","beta":null}`: 422,
		`{"stages":["0"` + strings.Repeat(`,"0"`, 64) + `]}`: 422,
	} {
		if got := f.ask("POST", "/v1/policy/runs", body, bearer("tom")); got.status != want {
			t.Errorf("%s: %d, want %d: %s", body, got.status, want, got.body)
		}
	}
	for body, place := range map[string]string{`{"algo":"ppo"}`: "#/algo", `{"stages":["large"]}`: "#/stages", `{"rules":"lax"}`: "#/rules"} {
		if got := f.ask("POST", "/v1/policy/runs", body, bearer("tom")); !strings.Contains(got.body, `"pointer":"`+place+`"`) {
			t.Errorf("%s is not refused at %s: %s", body, place, got.body)
		}
	}
	if got := f.ask("POST", "/v1/policy/runs", `{}`, bearer("alice")); got.status != http.StatusForbidden {
		t.Errorf("a player's: %d", got.status)
	}
	path := f.startRun(`{"stages":["0"],"updates":2}`, bearer("tom"))
	for _, file := range []string{"", "/events", "/plot.svg", "/plot.png", "/telemetry.csv"} {
		for header, want := range map[string]int{bearer("tim"): 404, bearer("alice"): 403, "X-Nobody: 1": 401} {
			if got := f.ask("GET", path+file, "", header); got.status != want {
				t.Errorf("%s by %s: %d, want %d", file, header, got.status, want)
			}
		}
	}
	id := strings.TrimPrefix(path, "/v1/policy/runs/")
	others, none := f.ask("GET", path, "", bearer("tim")).body, f.ask("GET", "/v1/policy/runs/none", "", bearer("tim")).body
	if said := regexp.MustCompile(`"request_id":"[^"]*"`); said.ReplaceAllString(strings.ReplaceAll(others, id, "none"), "") != said.ReplaceAllString(none, "") {
		t.Errorf("another's run is told from one that there is not:\n%s\n%s", others, none)
	}
	for _, last := range []string{"-1", "x", "99999999999999999999", "1000"} {
		got := f.ask("GET", path+"/events", "", bearer("tom"), "Last-Event-ID: "+last)
		if got.status != http.StatusUnprocessableEntity {
			t.Errorf("Last-Event-ID %s: %d %s", last, got.status, got.body)
		}
	}
}

// panickingEnumerator panics in the tasks of an episode after some plans.
type panickingEnumerator struct {
	tools.Enumerator
	left int
}

func (p *panickingEnumerator) Act(token int) (float64, bool) {
	if p.left--; p.left < 0 {
		panic(testkit.PanicValue)
	}
	return p.Enumerator.Act(token)
}

// TestAPanicFailsItsTraining trains on an environment that panics, beside a run
// that goes on.
func TestAPanicFailsItsTraining(t *testing.T) {
	spec := arithmetic.Spec()
	spec.Enumerate = func() tools.Enumerator { return &panickingEnumerator{arithmetic.Spec().Enumerate(), 5000} }
	f := serve(t, api.Config{Data: t.TempDir(), MaxRuns: 2, Specs: tools.Specs{spec, gridworld.Spec()}})
	intact := f.startRun(`{"env":"gridworld","updates":100000}`)
	broken := f.startRun(`{"stages":["0"],"updates":100000}`)
	f.watch(broken, "", toTheEnd)
	if state := f.runState(broken); state.State != training.Failed || state.Error == "" || strings.Contains(state.Error, testkit.PanicValue) {
		t.Errorf("the run that panicked: %+v", state)
	}
	if log := f.logged(); !strings.Contains(log, "run="+strings.TrimPrefix(broken, "/v1/policy/runs/")) || !strings.Contains(log, testkit.PanicValue) {
		t.Errorf("the log: %s", log)
	}
	seen := f.runState(intact).Updates
	f.watch(intact, fmt.Sprint(seen), func(event) bool { return true })      // it makes further updates
	if again := f.startRun(`{"env":"gridworld","updates":1}`); again == "" { // the slot is free
		t.Error("no further run")
	}
}
