package api_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api"
	"toolgym/api/dialect"
	"toolgym/grpo"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

const (
	adder   = `[{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}}}]`
	addFive = `{"calls":[{"name":"add","arguments":{"n":5}}]}`
)

// adding is what a model writes to call add.
func adding(n int) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": \"add\", \"arguments\": {\"n\": %d}}\n</tool_call>", n)
}

// texts are completions of a request, given as text.
func texts(list ...string) string {
	var all []string
	for _, text := range list {
		quoted, _ := json.Marshal(text) // a string always encodes
		all = append(all, `{"text":`+string(quoted)+`}`)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// groupOf is a request of one group.
func groupOf(set, expected, completions string) string {
	return fmt.Sprintf(`{"groups":[{"id":"g","tools":%s,"expected":%s,"completions":%s}]}`, set, expected, completions)
}

func TestScore(t *testing.T) {
	lost := `{"messages":[{"role":"assistant","content":"","eval_count":40}]}`
	recursive := `[{"name":"add","parameters":{"type":"object","properties":{"n":{"type":"integer"},"next":{"$ref":"#"}}}}]`
	tests := []struct {
		name, body  string
		size, valid int
		rewards     string
	}{
		{"right and wrong", groupOf(adder, addFive, texts(adding(5), adding(6))), 2, 2, "[5.45 2.45]"},
		{"a group of one", groupOf(adder, addFive, texts(adding(5))), 1, 1, "[5.45]"},
		{"an empty group", groupOf(adder, addFive, `[]`), 0, 0, "[]"},
		{"an empty text", groupOf(adder, addFive, texts("")), 1, 1, "[0.95]"},
		{"all null", groupOf(adder, addFive, "["+lost+","+lost+"]"), 2, 0, "[null null]"},
		{"null beside others", groupOf(adder, addFive, "["+lost+`,{"text":""},{"text":"x"}]`), 3, 2, "[null 0.95 0.95]"},
		{"a schema that refers to itself", groupOf(recursive, addFive, texts(adding(5))), 1, 1, "[5.45]"},
		{"a task of an environment", `{"groups":[{"id":"g","task_id":"tally/0/5","completions":` + texts(adding(5)+"\n<tool_call>{\"name\":\"done\",\"arguments\":{}}</tool_call>") + `}]}`, 1, 1, "[5.45]"},
		{"a message with fields of its server's", groupOf(adder, addFive, `[{"messages":[{"role":"assistant","content":"","vendor":{"a":[1]},"tool_calls":[{"function":{"name":"add","arguments":{"n":5}}}]}]}]`), 1, 1, "[5.45]"},
		{"a rubric of its own", `{"rubric":{"criteria":{"completion":{"weight":2},"brief":{"weight":1,"formula":"turns < 2"}}},` + groupOf(adder, addFive, texts(adding(5)))[1:], 1, 1, "[3]"},
	}
	f := serve(t, api.Config{})
	doc := readContract(t, f)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := f.ask("POST", "/v1/score", test.body)
			doc.check(t, "POST", "/v1/score", got)
			var response grpo.Response
			if err := json.Unmarshal([]byte(got.body), &response); err != nil || got.status != http.StatusOK || len(response.Groups) != 1 {
				t.Fatalf("%d %.500s: %v", got.status, got.body, err)
			}
			g := response.Groups[0]
			if g.Size != test.size || g.Valid != test.valid || rewardsOf(g) != test.rewards {
				t.Errorf("size %d, valid %d, rewards %s; want %d, %d, %s", g.Size, g.Valid, rewardsOf(g), test.size, test.valid, test.rewards)
			}
		})
	}
}

func rewardsOf(g grpo.GroupScore) string {
	list := []string{}
	for _, c := range g.Completions {
		if c.Reward == nil {
			list = append(list, "null")
		} else {
			list = append(list, fmt.Sprint(*c.Reward))
		}
	}
	return fmt.Sprint(list)
}

func TestScoreOfNothing(t *testing.T) {
	f := serve(t, api.Config{})
	got := f.ask("POST", "/v1/score", `{"groups":[]}`)
	readContract(t, f).check(t, "POST", "/v1/score", got)
	if got.status != http.StatusOK || !strings.HasPrefix(got.body, `{"groups":[],"metrics":{`) || !strings.Contains(got.body, `"reward":null`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestScoreRefuses sends what no honest client would, to both routes that take
// a body of completions.
func TestScoreRefuses(t *testing.T) {
	text := texts(adding(5))
	rubric := func(criteria string) string {
		return `{"rubric":{"criteria":` + criteria + `},` + groupOf(adder, addFive, text)[1:]
	}
	tool := func(parameters string) string {
		return groupOf(`[{"name":"g"},{"name":"add","parameters":`+parameters+`}]`, addFive, text)
	}
	completion := func(c string) string { return groupOf(adder, addFive, `[{"text":""},`+c+`]`) }
	tests := []struct {
		name, body string
		status     int
		pointer    string
	}{
		{"an unknown field", `{"groups":[],"wat":1}`, 422, "#/wat"},
		{"an unknown field of a group", `{"groups":[{"id":"g","wat":1,"completions":[]}]}`, 422, "#/groups/0"},
		{"an unknown field of a completion", completion(`{"text":"","wat":1}`), 422, "#/groups/0/completions/1"},
		{"an unknown field of expected", groupOf(adder, `{"calls":[],"wat":1}`, text), 422, "#/groups/0/expected"},
		{"an unknown field of a tool", groupOf(`[{"name":"add","parametres":{}}]`, addFive, text), 422, "#/groups/0/tools/0"},
		{"no groups", `{}`, 422, "#/groups"},
		{"no task", `{"groups":[{"id":"g","completions":[]}]}`, 422, "#/groups/0"},
		{"an unknown environment", `{"groups":[{"id":"g","task_id":"chess/0/1","completions":[]}]}`, 404, "#/groups/0/task_id"},
		{"an unknown level", `{"groups":[{"id":"g","task_id":"tally/9/1","completions":[]}]}`, 422, "#/groups/0/task_id"},
		{"an unknown family", completion(`{"text":"","family":"latin"}`), 422, "#/groups/0/completions/1/family"},
		{"neither text nor messages", completion(`{}`), 422, "#/groups/0/completions/1"},
		{"both text and messages", completion(`{"text":"","messages":[]}`), 422, "#/groups/0/completions/1"},
		{"messages without the assistant", completion(`{"messages":[{"role":"user","content":"hi"}]}`), 422, "#/groups/0/completions/1/messages"},
		{"log-probabilities of another length", completion(`{"text":"","logprobs":[-1,-2],"ref_logprobs":[-1]}`), 422, "#/groups/0/completions/1/ref_logprobs"},
		{"a mask of another length", completion(`{"text":"","logprobs":[-1,-2],"mask":[1,1,1]}`), 422, "#/groups/0/completions/1/mask"},
		{"a mask of fractions", completion(`{"text":"","logprobs":[-1],"mask":[0.5]}`), 422, "#/groups/0/completions/1/mask/0"},
		{"a criterion that is unknown", rubric(`{"speed":{"weight":1}}`), 422, "#/rubric/criteria/speed"},
		{"no criterion", rubric(`{}`), 422, "#/rubric/criteria"},
		{"a weight of NaN", rubric(`{"format":{"weight":NaN}}`), 400, ""},
		{"a weight of text", rubric(`{"format":{"weight":"NaN"}}`), 422, "#/rubric/criteria/format/weight"},
		{"a weight beyond numbers", rubric(`{"format":{"weight":1e999}}`), 422, "#/rubric/criteria/format/weight"},
		{"a formula that is none", rubric(`{"own":{"weight":1,"formula":"1 +"}}`), 422, "#/rubric/criteria/own/formula"},
		{"an unknown normalization", `{"normalization":"mean","groups":[]}`, 422, "#/normalization"},
		{"an unknown aggregation", `{"aggregation":"mean","groups":[]}`, 422, "#/aggregation"},
		{"an unknown loss", `{"loss":{"type":"ppo"},"groups":[]}`, 422, "#/loss/type"},
		{"a loss with a field too many", `{"loss":{"gamma":1},"groups":[]}`, 422, "#/loss"},
		{"a schema that is none", tool(`{"type":"thing"}`), 422, "#/groups/0/tools/1/parameters/type"},
		{"a schema of a list", tool(`{"type":"array"}`), 422, "#/groups/0/tools/1/parameters"},
		{"a schema that reads a file", tool(`{"$ref":"file:///etc/passwd"}`), 422, "#/groups/0/tools/1/parameters"},
		{"a schema that reads a path", tool(`{"$ref":"/etc/passwd"}`), 422, "#/groups/0/tools/1/parameters"},
		{"a schema that goes round in a circle", tool(`{"$ref":"#"}`), 422, "#/groups/0/tools/1/parameters"},
		{"a schema that expands", tool(doubling("anyOf", 20)), 422, "#/groups/0/tools/1/parameters"},
		{"a schema of a large program", tool(`{"properties":{"n":{"pattern":"` + strings.Repeat("x{1000}", 30) + `"}}}`), 422, "#/groups/0/tools/1/parameters"},
		{"more tools than a list has", groupOf(`[`+strings.Repeat(`{"name":"add"},`, 1024)+`{"name":"add"}]`, addFive, text), 422, "#/groups/0/tools"},
		{"a tool twice", groupOf(`[{"name":"add"},{"name":"add"}]`, addFive, text), 422, "#/groups/0/tools/1"},
		{"an expected call of no tool", groupOf(adder, `{"calls":[{"name":"sub"}]}`, text), 422, "#/groups/0/expected/calls/0/name"},
		{"a tolerance below zero", groupOf(adder, `{"calls":[{"name":"add","arguments":{"n":5}}],"match":{"n":{"tolerance":-1}}}`, text), 422, "#/groups/0/expected/match/n/tolerance"},
		{"invalid UTF-8", strings.ReplaceAll(groupOf(adder, addFive, `[{"text":"?"}]`), "?", "\xff"), 400, ""},
		{"a key twice", `{"groups":[],"groups":[]}`, 400, ""},
		{"deep", completion(`{"messages":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`), 400, ""},
		{"more values than fit", `{"groups":[],"x":[` + strings.Repeat("1,", 5<<20) + `1]}`, 413, ""},
		{"a byte over 64 MiB", `{"groups":[]}` + strings.Repeat(" ", 64<<20-12), 413, ""},
	}
	f := serve(t, api.Config{})
	doc := readContract(t, f)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := f.ask("POST", "/v1/score", test.body)
			if got.status != test.status || test.pointer != "" && !strings.Contains(got.body, fmt.Sprintf(`"pointer":%q`, test.pointer)) {
				t.Errorf("%d %.600s; want %d at %s", got.status, got.body, test.status, test.pointer)
			}
			checkProblem(t, "POST", got)
			doc.check(t, "POST", "/v1/score", got)
		})
	}
}

// doubling is a schema whose definitions refer twice to the next.
func doubling(keyword string, depth int) string {
	var definitions strings.Builder
	for i := range depth {
		fmt.Fprintf(&definitions, `"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%[3]d"}]},`, i, keyword, i+1)
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s"d%d":{"type":"string"}}}`, definitions.String(), depth)
}

// A completion whose arguments take too many steps to be checked has no reward,
// and a reason; the others have theirs.
func TestArgumentsThatAreTooCostlyToCheck(t *testing.T) {
	set := `[{"name":"add","parameters":{"type":"object","properties":{"n":{"type":"integer"},"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}}]`
	costly := `{"name": "add", "arguments": {"n": 5, "a": ` + strings.Repeat(`{"a":`, 40) + "{}" + strings.Repeat("}", 40) + "}}"
	f := serve(t, api.Config{})
	got := f.ask("POST", "/v1/score", groupOf(set, addFive, texts(adding(5), "<tool_call>\n"+costly+"\n</tool_call>")))
	readContract(t, f).check(t, "POST", "/v1/score", got)
	var response grpo.Response
	if err := json.Unmarshal([]byte(got.body), &response); err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %.500s: %v", got.status, got.body, err)
	}
	g := response.Groups[0]
	if rewardsOf(g) != "[5.45 null]" || g.Completions[1].Failure.Kind != grpo.FailureHarness || !strings.Contains(g.Completions[1].Failure.Reason, "more than 1000000 steps") {
		t.Errorf("rewards %s, failure %v", rewardsOf(g), g.Completions[1].Failure)
	}
}

// A schema may not make the server open a connection.
func TestSchemasFetchNothing(t *testing.T) {
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	f := serve(t, api.Config{})
	leaving := fmt.Sprintf(`[{"name":"add","parameters":{"type":"object","properties":{"n":{"$ref":%q}}}}]`, elsewhere.URL+"/schema.json")
	for path, body := range map[string]string{
		"/v1/score":   groupOf(leaving, addFive, `[]`),
		"/v1/parse":   `{"text":"","tools":` + leaving + `}`,
		"/get_reward": fmt.Sprintf(`{"query":["ab"],"prompts":["a"],"labels":[%q]}`, `{"tools":`+leaving+`,"expected":{"calls":[]}}`),
	} {
		if got := f.ask("POST", path, body); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "leaves the schema") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	line := fmt.Sprintf(`{"group":"g","tools":%s,"expected":%s,"text":""}`, leaving, addFive)
	if got := f.ask("POST", "/v1/score/stream", line); !strings.Contains(got.body, "leaves the schema") {
		t.Errorf("stream: %d %s", got.status, got.body)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}

// One text may hold as many attempts as it likes.
func TestManyAttempts(t *testing.T) {
	f := serve(t, api.Config{})
	many := strings.Repeat(adding(5), 100_000)
	got := f.ask("POST", "/v1/score", groupOf(adder, addFive, texts(many, adding(5))))
	var response grpo.Response
	if err := json.Unmarshal([]byte(got.body), &response); err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %.300s: %v", got.status, got.body, err)
	}
	if first := response.Groups[0].Completions[0]; first.Success || first.Reward == nil || !response.Groups[0].Completions[1].Success {
		t.Errorf("success %t, failure %v", first.Success, first.Failure)
	}
}

// Large bodies are bounded together; one alone always has its turn.
func TestScoringIsBounded(t *testing.T) {
	f := serve(t, api.Config{MaxScoring: 100})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"groups":[]}` + strings.Repeat(" ", 200)
	if _, err := fmt.Fprintf(conn, "POST /v1/score HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body)); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} { // the server waits for the body
		if line, err := answers.ReadString('\n'); err != nil || line != want {
			t.Fatalf("%q, %v", line, err)
		}
	}
	got := f.ask("POST", "/v1/score", body)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
		t.Errorf("%d %s", got.status, got.body)
	}
	checkProblem(t, "POST", got)
	if got := f.ask("POST", "/v1/parse", `{"text":""}`); got.status != http.StatusOK {
		t.Errorf("small bodies are refused too: %d %s", got.status, got.body)
	}
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(answers, nil)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", response, err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
	response.Body.Close()
}

// The client's methods ask and are answered as in process.
func TestScoringByTheClient(t *testing.T) {
	f := serve(t, api.Config{})
	c := dial(t, f.url)
	text, message := adding(5), json.RawMessage(`{"role":"assistant","content":"","eval_count":40}`)
	var set tools.Set
	if err := json.Unmarshal([]byte(adder), &set); err != nil {
		t.Fatal(err)
	}
	asked := parse.Request{Input: parse.Input{Text: &text, Family: parse.Hermes}, Tools: set}
	want, err := asked.Read()
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Parse(t.Context(), asked)
	if diff := cmp.Diff(written(t, want), written(t, got)); err != nil || diff != "" {
		t.Errorf("Parse: %v %s", err, diff)
	}
	request := grpo.Request{Groups: []grpo.Group{{ID: "g", TaskID: "tally/0/5", Completions: []grpo.Completion{{Text: &text}, {Messages: []json.RawMessage{message}}}}}}
	scorer, err := grpo.NewScorer(tools.Specs{tallySpec(nil)}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	inProcess, err := scorer.Score(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Score(t.Context(), request)
	if diff := cmp.Diff(written(t, inProcess), written(t, response)); err != nil || diff != "" {
		t.Errorf("Score: %v %s", err, diff)
	}
	rewards, err := c.GetReward(t.Context(), dialect.RewardQuery{Query: []string{"a" + text}, Prompts: []string{"a"}, Labels: []string{"tally/0/5"}})
	if err != nil || len(rewards.Rewards) != 1 || rewards.Rewards[0] != *inProcess.Groups[0].Completions[0].Reward {
		t.Errorf("GetReward: %+v %v", rewards, err)
	}
	_, err = c.Score(t.Context(), grpo.Request{Groups: []grpo.Group{{ID: "g", TaskID: "tally/0/x", Completions: []grpo.Completion{}}}})
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid || e.Where != "/groups/0/task_id" {
		t.Errorf("%v, want one about the task", err)
	}
	_, err = c.Parse(t.Context(), parse.Request{})
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid {
		t.Errorf("%v, want an invalid one", err)
	}
}

// TestReadingHasABudget sends a completion that would have to be read again from
// every argument: the answer says that this was not done.
func TestReadingHasABudget(t *testing.T) {
	f := serve(t, api.Config{})
	text := "<tool_call>f" + strings.Repeat("<arg_key>a</arg_key><arg_value><tool_call>f<arg_key>b</arg_key><arg_value>x</arg_value>", 2000)
	got := f.ask("POST", "/v1/parse", fmt.Sprintf(`{"text":%q,"family":"glm-4.5"}`, text))
	if got.status != http.StatusOK || !strings.Contains(got.body, `"too_much_work"`) || !strings.Contains(got.body, `"tier":"none"`) {
		t.Errorf("%d %.300s", got.status, got.body)
	}
}
