package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/api/training"
	"toolgym/grpo/eval"
	"toolgym/internal/evaluation"
	"toolgym/policy/telemetry"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// speaker is a client of the fixture's server, or of another address.
func speaker(t *testing.T, url, token string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{URL: url, Token: token, Pause: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// whole reports what a value of the client's leaves out of the server's answer.
func whole(t *testing.T, f *fixture, path string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(text, &got), json.Unmarshal([]byte(f.ask("GET", path, "").body), &want)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, and what the client has of it:\n%s", path, diff)
	}
}

func code(err error) string {
	if e := (*tools.Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return fmt.Sprint(err)
}

func TestClientTrains(t *testing.T) {
	f := trainer(t, api.Config{Data: t.TempDir()})
	c, ctx := speaker(t, f.url, ""), t.Context()
	run, err := c.StartPolicyRun(ctx, client.PolicyRunStart{Algo: "grpo", Stages: []string{"0"}, Seed: 1, Updates: 6})
	if err != nil || run.State != "running" {
		t.Fatalf("%+v, %v", run, err)
	}
	for _, after := range []int{0, 2} {
		var last client.Event
		n := 0
		for e, err := range c.WatchPolicyRun(ctx, run.ID, after) {
			if err != nil {
				t.Fatal(err)
			}
			var record telemetry.Record
			if err := json.Unmarshal(e.Data, &record); e.Name == "" && (err != nil || record.Update != e.ID || e.ID != after+n+1) {
				t.Errorf("event %d: %s, %v", e.ID, e.Data, err)
			}
			last = e
			n++
		}
		if n != 7-after || last.Name != "end" || !strings.Contains(string(last.Data), `"state":"done"`) {
			t.Errorf("from behind %d: %d events, the last %+v", after, n, last)
		}
	}
	if run, err = c.PolicyRun(ctx, run.ID); err != nil || run.State != "done" || run.Updates != 6 {
		t.Errorf("%+v, %v", run, err)
	}
	whole(t, f, "/v1/policy/runs/"+run.ID, run)
	if list, err := c.PolicyRuns(ctx); err != nil || len(list) != 1 || list[0].ID != run.ID {
		t.Errorf("%+v, %v", list, err)
	}
	greedy, err := c.Act(ctx, "arithmetic/0/17", run.ID, 0, 0)
	drawn, err2 := c.Act(ctx, "arithmetic/0/17", run.ID, 3, 1)
	if err != nil || err2 != nil || len(greedy.Plans) != 1 || len(drawn.Plans) != 3 || len(greedy.Plans[0].Tokens) == 0 {
		t.Errorf("%+v, %v; %+v, %v", greedy, err, drawn, err2)
	}
	if _, err := c.Act(ctx, "arithmetic/4/17", "", 0, 0); code(err) != tools.Conflict {
		t.Errorf("no policy: %v", err)
	}
	if _, err := c.ResumePolicyRun(ctx, run.ID); code(err) != tools.Conflict {
		t.Errorf("resuming what is done: %v", err)
	}
	if err := c.CancelPolicyRun(ctx, run.ID); err != nil {
		t.Error(err)
	}
	if _, err := c.PolicyRun(ctx, run.ID); code(err) != tools.NotFound {
		t.Errorf("afterwards: %v", err)
	}
	for _, err := range c.WatchPolicyRun(ctx, run.ID, 0) {
		if code(err) != tools.NotFound {
			t.Errorf("watching it: %v", err)
		}
	}
	if _, err := c.StartPolicyRun(ctx, client.PolicyRunStart{Algo: "ppo"}); code(err) != tools.Invalid {
		t.Errorf("no such algorithm: %v", err)
	}
}

func TestClientHoldsATraining(t *testing.T) {
	f := trainer(t, api.Config{})
	c, ctx := speaker(t, f.url, ""), t.Context()
	run, err := c.StartPolicyRun(ctx, client.PolicyRunStart{Updates: 100000})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.WatchPolicyRun(ctx, run.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		break // the first is enough
	}
	if run, err = c.PausePolicyRun(ctx, run.ID); err != nil || run.State != "paused" {
		t.Errorf("%+v, %v", run, err)
	}
	watching, stop := context.WithCancel(ctx)
	var failed error
	for e, err := range c.WatchPolicyRun(watching, run.ID, 0) {
		if failed = err; err == nil && e.ID >= run.Updates {
			stop() // nothing more comes while it is held
		}
	}
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("a watch that was called off ends with %v", failed)
	}
	stop()
	if run, err = c.ResumePolicyRun(ctx, run.ID); err != nil || run.State != "running" {
		t.Errorf("%+v, %v", run, err)
	}
	if err := c.CancelPolicyRun(ctx, run.ID); err != nil {
		t.Error(err)
	}
	if run, err = c.PolicyRun(ctx, run.ID); err != nil || run.State != "cancelled" {
		t.Errorf("%+v, %v", run, err)
	}
}

// TestEventsOutliveTheirConnection: every connection is cut in the middle of its
// second event, and no event is missed or comes twice.
func TestEventsOutliveTheirConnection(t *testing.T) {
	f := trainer(t, api.Config{})
	var connections atomic.Int64
	cutting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			connections.Add(1)
			w = &cutter{ResponseWriter: w}
		}
		f.server.ServeHTTP(w, r)
	}))
	defer cutting.Close()
	c := speaker(t, cutting.URL, "")
	run, err := c.StartPolicyRun(t.Context(), client.PolicyRunStart{Stages: []string{"0"}, Updates: 5})
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for e, err := range c.WatchPolicyRun(t.Context(), run.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 5}, ids); diff != "" || connections.Load() != 6 {
		t.Errorf("%d connections: %s", connections.Load(), diff)
	}
}

// A cutter lets one event through, and breaks off in the middle of the next,
// unless that is the last.
type cutter struct {
	http.ResponseWriter
	events int
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) Write(text []byte) (int, error) {
	if c.events++; c.events > 1 {
		_, _ = c.ResponseWriter.Write(text[:len(text)/2])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(text)
}

func TestClientEvaluates(t *testing.T) {
	f := serve(t, api.Config{Data: t.TempDir(), Ollama: []string{scripted(t, nil)}, Specs: tools.Specs{arithmetic.Spec()}})
	c, ctx := speaker(t, f.url, ""), t.Context()
	for _, name := range []string{"first / try", "second"} {
		begun, err := c.StartEval(ctx, client.EvaluationRequest{Model: "mute", Run: name, Levels: []string{"0"}, N: 3, Seed: 1})
		if err != nil || begun.Name != name || begun.Planned != 3 {
			t.Fatalf("%+v, %v", begun, err)
		}
		for after, want := range [][]int{{1, 2, 3, 3}, {2, 3, 3}} {
			var trials []int
			var last client.Event
			for e, err := range c.WatchEval(ctx, name, after) {
				var trial eval.Trial
				if err == nil && e.Name == "" {
					err = json.Unmarshal(e.Data, &trial)
				}
				if err != nil {
					t.Fatal(err)
				}
				trials, last = append(trials, e.ID), e
			}
			if diff := cmp.Diff(want, trials); diff != "" || last.Name != "end" {
				t.Errorf("from behind %d: %+v %s", after, last, diff)
			}
		}
	}
	state, err := c.Eval(ctx, "first / try")
	if err != nil || state.State != "done" || state.Summary == nil {
		t.Errorf("%+v, %v", state, err)
	}
	whole(t, f, "/v1/evals/first%20%2F%20try", state)
	if list, err := c.Evals(ctx); err != nil || len(list) != 2 || list[0].Name != "second" {
		t.Errorf("%+v, %v", list, err)
	}
	comparison, err := c.CompareEvals(ctx, "first / try", "second")
	if err != nil || comparison.Tasks != 3 || comparison.Runs != [2]string{"first / try", "second"} || comparison.Significant {
		t.Errorf("%+v, %v", comparison, err)
	}
	if _, err := c.CompareEvals(ctx, "second", "third"); code(err) != tools.NotFound {
		t.Errorf("with what is not there: %v", err)
	}
	if _, err := c.CompareEvals(ctx, "second", ""); code(err) != tools.Invalid {
		t.Errorf("with nothing: %v", err)
	}
	readContract(t, f).check(t, "GET", "/v1/evals/second/compare", f.ask("GET", "/v1/evals/second/compare?with=second", ""))
	for format, want := range map[string]string{"text": "RESULT", "csv": ",", "": "{"} {
		if report, err := c.EvalReport(ctx, "second", format); err != nil || !strings.Contains(string(report), want) {
			t.Errorf("%q: %.100s, %v", format, report, err)
		}
	}
	if _, err := c.EvalReport(ctx, "second", "pdf"); code(err) != tools.Invalid {
		t.Errorf("as PDF: %v", err)
	}
	if _, err := c.StartEval(ctx, client.EvaluationRequest{Model: "mute", Run: "second"}); code(err) != tools.Conflict {
		t.Errorf("the same name: %v", err)
	}
	if err := c.CancelEval(ctx, "second"); err != nil {
		t.Error(err)
	}
	if _, err := c.Eval(ctx, "second"); code(err) != tools.NotFound {
		t.Errorf("afterwards: %v", err)
	}
}

// TestClientRequestFields holds the requests of the client together with those of
// the server: the same fields, of the same types.
func TestClientRequestFields(t *testing.T) {
	fields := func(v any) map[string]string {
		found, typ := map[string]string{}, reflect.TypeOf(v)
		for f := range typ.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
				found[name] = strings.ReplaceAll(f.Type.String(), "evaluation.", "client.")
			}
		}
		return found
	}
	server := fields(evaluation.Request{})
	delete(server, "command") // set by the command line only
	if diff := cmp.Diff(server, fields(client.EvaluationRequest{})); diff != "" {
		t.Errorf("evaluation (-server +client):\n%s", diff)
	}
	if diff := cmp.Diff(fields(training.Start{}), fields(client.PolicyRunStart{})); diff != "" {
		t.Errorf("training (-server +client):\n%s", diff)
	}
}
