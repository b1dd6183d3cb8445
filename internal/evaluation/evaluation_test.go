package evaluation_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/internal/evaluation"
	"toolgym/internal/store"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
	"toolgym/tools/research"
)

const answered = `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":2}}}]},"done":true,"done_reason":"stop","prompt_eval_count":30,"eval_count":9}`

// instant is a server that always answers the same, at once.
func instant(t testing.TB) string {
	t.Helper()
	reply := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/version", reply(`{"version":"0.0.0"}`))
	mux.HandleFunc("GET /api/tags", reply(`{"models":[{"name":"m:latest","digest":"aa","size":1}]}`))
	mux.HandleFunc("POST /api/show", reply(`{"template":"{{ range .Messages }}{{ .Content }}{{ end }}{{ .Tools }}","capabilities":["completion","tools"]}`))
	mux.HandleFunc("POST /api/chat", reply(answered))
	mux.HandleFunc("POST /api/generate", reply(`{"model":"m","created_at":"2026-01-01T00:00:00Z","response":"<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2}}</tool_call>","done":true,"done_reason":"stop","prompt_eval_count":30,"eval_count":9}`))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// questions are n of one turn; the server's answer is right for every second.
func questions(n int) *evaluation.Suite {
	var b strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&b, `{"id":"q_%d","question":"add","function":{"name":"add","parameters":{"type":"dict","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}},"ground_truth":[{"add":{"a":[1],"b":[%d]}}]}`+"\n", i, 2+i%2)
	}
	return &evaluation.Suite{Name: "mine", Lines: b.String()}
}

func room(t testing.TB) evaluation.Room {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "toolgym.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return evaluation.Room{Specs: tools.Specs{arithmetic.Spec()}, Store: db, Now: time.Now}
}

func play(t testing.TB, r evaluation.Room, request evaluation.Request) *evaluation.Evaluation {
	t.Helper()
	e, err := r.Open(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Play(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestBothRoutes(t *testing.T) {
	r := room(t)
	play(t, r, evaluation.Request{Run: "r", Model: "m", Ollama: []string{instant(t)}, Suite: questions(4), Trials: 2, Route: evaluation.RouteBoth})
	got, err := r.Report(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got.Summary.Trials != 8 || got.Switch == nil || got.Switch.Both != 4 || got.Switch.Neither != 4 || len(got.Baselines) != 4 {
		t.Errorf("%+v, %+v", got.Summary, got.Switch)
	}
	records, err := r.Store.Records(t.Context(), "r", "mine/q_0")
	if err != nil || len(records) != 4 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if raw := records[2]; raw.Route != "raw" || !strings.Contains(string(raw.Transcript), `"prompt":"`) || !strings.Contains(string(raw.Transcript), `\u003ctool_call\u003e`) {
		t.Errorf("the raw route keeps %s", raw.Transcript)
	}
}

// Judging again what is kept changes nothing, to the byte; another rubric adds
// verdicts, and the first one brings the first figures back.
func TestRescore(t *testing.T) {
	r := room(t)
	play(t, r, evaluation.Request{Run: "r", Model: "m", Ollama: []string{instant(t)}, Suite: questions(6)})
	before, err := r.Store.Trials(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Rescore(t.Context(), "r"); err != nil || got != (evaluation.Rescored{Run: "r", Trials: 6}) {
		t.Errorf("by the same rubric %+v, %v", got, err)
	}
	dear := grpo.DefaultRubric()
	dear.Criteria[grpo.CriterionCompletion] = grpo.Criterion{Weight: 10}
	other := r
	other.Rubric = &dear
	if got, err := other.Rescore(t.Context(), "r"); err != nil || got.Changed != 6 {
		t.Errorf("by another rubric %+v, %v", got, err)
	}
	if got, err := r.Rescore(t.Context(), "r"); err != nil || got.Changed != 6 {
		t.Errorf("back again: %+v, %v", got, err)
	}
	after, err := r.Store.Trials(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fmt.Sprintf("%+v", criteria(before)), fmt.Sprintf("%+v", criteria(after))); diff != "" {
		t.Error(diff)
	}
}

// The policy plays what it was trained on, and says what it was not; the oracle
// plays all. The report is the same when it is made again.
func TestBaselines(t *testing.T) {
	r := room(t)
	r.Specs = tools.Specs{arithmetic.Spec(), gridworld.Spec(), research.Spec()}
	play(t, r, evaluation.Request{
		Run: "r", Model: "m", Ollama: []string{instant(t)}, Suite: questions(1), Trials: 2,
		Envs: []string{"arithmetic", "gridworld", "research"}, Levels: []string{"0", "1", "2"}, N: 3, MaxTurns: 1,
	})
	got, err := r.Report(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Tasks, Passed int
		LeftOut       []string
		Reason        string
	}
	rows := map[string]row{}
	for _, b := range got.Baselines {
		rows[b.Name] = row{b.Summary.Tasks, b.Summary.Passed, b.LeftOut, b.Reason}
	}
	want := map[string]row{
		"does nothing":    {Tasks: 28, LeftOut: []string{}},
		"calls at random": {Tasks: 28, LeftOut: []string{}},
		"oracle":          {Tasks: 28, Passed: 56, LeftOut: []string{}},
		"trained policy": {
			Tasks: 15, Passed: 30, LeftOut: []string{"mine/q", "gridworld/2", "research/0", "research/1", "research/2"},
			Reason: "no policy is trained there",
		},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	again, err := r.Report(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Baselines, again.Baselines, cmpopts.IgnoreUnexported(eval.Comparison{})); diff != "" {
		t.Error(diff)
	}
}

// Tasks that the random baseline cannot play are left out of it with the reason;
// the report is made all the same, also from what a server keeps.
func TestAReportWhereNothingCanBeCalledAtRandom(t *testing.T) {
	r := room(t)
	suite := questions(1)
	suite.Lines += `{"id":"none_0","question":"Say hello.","function":[],"ground_truth":[]}` + "\n" +
		`{"id":"never_0","question":"Say hello.","function":{"name":"f","parameters":{"type":"dict","properties":{"s":{"type":"string","pattern":"^a\\ba$"}},"required":["s"]}},"ground_truth":[]}` + "\n" +
		`{"id":"month_0","question":"When?","function":{"name":"f","parameters":{"type":"dict","properties":{"s":{"type":"string","pattern":"^[0-9]{4}-[0-9]{2}$"}},"required":["s"]}},"ground_truth":[{"f":{"s":["2024-05"]}}]}` + "\n"
	play(t, r, evaluation.Request{Run: "r", Model: "m", Ollama: []string{instant(t)}, Suite: suite})
	direct, err := r.Report(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	references := evaluation.NewReferences()
	defer references.Close()
	served, whole, err := references.Report(t.Context(), r, "r", patient)
	if err != nil || !whole {
		t.Fatalf("whole: %t, %v", whole, err)
	}
	for name, got := range map[string]report.Report{"direct": direct, "served": served} {
		b := got.Baselines[1]
		if b.Name != "calls at random" || b.Summary.Tasks != 2 || len(got.NotComputed) != 0 {
			t.Errorf("%s: %+v, not computed %v", name, b, got.NotComputed)
		}
		if diff := cmp.Diff([]string{"mine/none", "mine/never"}, b.LeftOut); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if !strings.Contains(b.Reason, "there is no tool to call") || !strings.Contains(b.Reason, "no valid call found in 100 draws") {
			t.Errorf("%s: reason %q", name, b.Reason)
		}
	}
}

// Tasks that an environment now makes differently cannot be played by the
// baselines; the report of the model's own trials is made and says so.
func TestAReportOfTasksThatHaveChanged(t *testing.T) {
	r := room(t)
	play(t, r, evaluation.Request{Run: "r", Model: "idle", Route: evaluation.RouteAgent, Envs: []string{"arithmetic"}, Levels: []string{"0"}, N: 2})
	r.Specs = tools.Specs{gridworld.Spec()}
	references := evaluation.NewReferences()
	defer references.Close()
	served, whole, err := references.Report(t.Context(), r, "r", patient)
	if err != nil || !whole {
		t.Fatalf("whole: %t, %v", whole, err)
	}
	if served.Summary.Trials != 2 || len(served.Baselines) != 0 || len(served.NotComputed) != 1 || served.NotComputed[0].Part != "baselines" {
		t.Errorf("got %+v, not computed %v", served.Summary, served.NotComputed)
	}
}

func criteria(trials []eval.Trial) []string {
	var list []string
	for _, t := range trials {
		list = append(list, fmt.Sprintf("%s %v %v %s", t.Task, *t.Reward, t.Criteria, t.Tier))
	}
	return list
}

// The share of a one-turn trial that is not the model's: asking, reading,
// grading, and keeping it on disk before the next.
func BenchmarkTrial(b *testing.B) {
	for _, concurrency := range []int{1, 8} {
		b.Run(fmt.Sprintf("concurrency=%d", concurrency), func(b *testing.B) {
			r, url, trials := room(b), instant(b), 0
			suite := questions(200)
			for b.Loop() {
				e := play(b, r, evaluation.Request{Run: fmt.Sprint("r", trials), Model: "m", Ollama: []string{url}, Suite: suite, Concurrency: concurrency})
				trials += e.Planned
			}
			b.ReportMetric(float64(trials)/b.Elapsed().Seconds(), "trials/s")
		})
	}
}
