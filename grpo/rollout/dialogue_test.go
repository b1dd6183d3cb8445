package rollout_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

func digits(n uint64) string { return strconv.FormatUint(n, 10) }

func refused(t *testing.T, err error, want string) {
	t.Helper()
	var e *tools.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that says %q", err, want)
	}
}

// scripted answers the k-th request with the k-th script, to show what no
// healthy server does.
func scripted(t *testing.T, script ...http.HandlerFunc) rollout.Chat {
	t.Helper()
	turn := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if turn >= len(script) {
			t.Errorf("request %d is not in the script", turn+1)
			return
		}
		turn++
		script[turn-1](w, r)
	}))
	t.Cleanup(server.Close)
	return rollout.Chat{Config: rollout.Config{URL: server.URL, Model: "m", Timeout: 10 * time.Second}}
}

// says is a whole reply with the given message, token counts and done reason.
func says(message string, prompt, output int, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"model":"m","message":` + message + `,"done":true,"done_reason":"` + reason + `","prompt_eval_count":` +
			strconv.Itoa(prompt) + `,"eval_count":` + strconv.Itoa(output) + `}`))
	}
}

func fails(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// cut announces more bytes than it sends.
func cut(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10000")
		_, _ = w.Write([]byte(body))
	}
}

const answer3 = `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"answer","arguments":{"value":3}}}]}`

func TestBlame(t *testing.T) {
	call := `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":2}}}]}`
	quoted := `{"error":"error parsing tool call: raw='{\"name\": \"add\", \"arguments\": {\"a\": 1,', err=unexpected end of JSON input"}`
	tests := []struct {
		name   string
		script []http.HandlerFunc
		kind   string // "" means graded
		tier   string
	}{
		{"a wrong answer", []http.HandlerFunc{says(answer3, 50, 9, "stop")}, "", "strict"},
		{"no call at all", []http.HandlerFunc{says(`{"role":"assistant","content":"It is 3."}`, 50, 9, "stop")}, "", "answer"},
		{"the model says nothing", []http.HandlerFunc{says(`{"role":"assistant","content":""}`, 50, 1, "stop")}, "", "answer"},
		{"tokens were generated and the message is empty", []http.HandlerFunc{says(`{"role":"assistant","content":""}`, 50, 40, "stop")}, grpo.FailureServing, ""},
		{"a 500 that quotes a call", []http.HandlerFunc{fails(500, quoted)}, "", "none"},
		{"another 500", []http.HandlerFunc{fails(500, `{"error":"llama runner process has terminated"}`)}, grpo.FailureInfrastructure, ""},
		{"an error page", []http.HandlerFunc{fails(502, `<html>Bad Gateway</html>`)}, grpo.FailureInfrastructure, ""},
		{"too large a context is refused", []http.HandlerFunc{fails(400, `{"error":"the input length exceeds the context length"}`)}, grpo.FailureHarness, ""},
		{"cut in the middle", []http.HandlerFunc{cut(`{"model":"m","message":{"role":"assi`)}, grpo.FailureInfrastructure, ""},
		{"not done", []http.HandlerFunc{fails(200, `{"model":"m","message":`+answer3+`,"done":false}`)}, grpo.FailureInfrastructure, ""},
		{"not JSON", []http.HandlerFunc{fails(200, `hello`)}, grpo.FailureInfrastructure, ""},
		{"the second turn is cut", []http.HandlerFunc{says(call, 50, 9, "stop"), cut(`{`)}, grpo.FailureInfrastructure, ""},
		{"the prompt shrinks between turns", []http.HandlerFunc{says(call, 50, 9, "stop"), says(answer3, 40, 9, "stop")}, grpo.FailureHarness, ""},
		{"the prompt fills the context", []http.HandlerFunc{says(answer3, 4096, 9, "stop")}, grpo.FailureHarness, ""},
		{"the context is shifted", []http.HandlerFunc{says(answer3, 4000, 900, "stop")}, grpo.FailureHarness, ""},
		{"the context fills up exactly", []http.HandlerFunc{says(answer3, 4000, 96, "length")}, grpo.FailureHarness, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			transcript, score := play(t, scripted(t, test.script...), "arithmetic/0/1", 0)
			kind := ""
			if score.Failure != nil {
				kind = score.Failure.Kind
			}
			if kind != test.kind || (score.Reward == nil) != (test.kind != "") {
				t.Fatalf("failure %+v, reward %v; want kind %q", score.Failure, score.Reward, test.kind)
			}
			if test.kind == "" && string(score.Tier) != test.tier {
				t.Errorf("tier %s, want %s", score.Tier, test.tier)
			}
			if len(transcript.Turns) != len(test.script) {
				t.Errorf("%d turns kept, want %d", len(transcript.Turns), len(test.script))
			}
		})
	}
}

// TestWhatIsSent pins the request: options that are unset stay away, numbers
// come back as they were written, and the tools keep their order.
func TestWhatIsSent(t *testing.T) {
	var bodies []map[string]any
	note := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var body map[string]any
			decoder := json.NewDecoder(r.Body)
			decoder.UseNumber()
			if err := decoder.Decode(&body); err != nil {
				t.Error(err)
			}
			bodies = append(bodies, body)
			next(w, r)
		}
	}
	big := `{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"add","arguments":{"a":9007199254740993,"b":0}}}]}`
	play(t, scripted(t, note(says(big, 50, 9, "stop")), note(says(answer3, 60, 9, "stop"))), "arithmetic/0/1", 7)
	if diff := cmp.Diff(map[string]any{"num_ctx": json.Number("4096"), "seed": json.Number("7")}, bodies[0]["options"]); diff != "" {
		t.Error(diff)
	}
	if bodies[0]["stream"] != false || len(bodies[0]["tools"].([]any)) != 8 {
		t.Errorf("stream %v, tools %v", bodies[0]["stream"], bodies[0]["tools"])
	}
	messages := bodies[1]["messages"].([]any)
	text, err := json.Marshal(messages[1:])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"a":9007199254740993`) || !strings.Contains(string(text), `{\"result\":9007199254740993}`) || !strings.Contains(string(text), `"tool_call_id":"c1"`) {
		t.Errorf("the second request says %s", text)
	}
}

func TestTurnsAreBounded(t *testing.T) {
	call := says(`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"recall","arguments":{}}}]}`, 50, 9, "stop")
	chat := scripted(t, call, call, call)
	chat.MaxTurns = 3
	transcript, score := play(t, chat, "arithmetic/0/1", 0)
	if len(transcript.Turns) != 3 || score.Success {
		t.Errorf("%d turns, success %t", len(transcript.Turns), score.Success)
	}
}

func TestValidate(t *testing.T) {
	good := rollout.Config{URL: "http://127.0.0.1:11434", Model: "m"}.WithDefaults()
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	minus := -1.0
	for where, spoil := range map[string]func(*rollout.Config){
		"url":         func(c *rollout.Config) { c.URL = "" },
		"model":       func(c *rollout.Config) { c.Model = "" },
		"num_ctx":     func(c *rollout.Config) { c.NumCtx = -1 },
		"num_predict": func(c *rollout.Config) { c.NumPredict = -1 },
		"max_turns":   func(c *rollout.Config) { c.MaxTurns = -1 },
		"timeout":     func(c *rollout.Config) { c.Timeout = -1 },
		"temperature": func(c *rollout.Config) { c.Temperature = &minus },
	} {
		t.Run(where, func(t *testing.T) {
			bad := good
			spoil(&bad)
			refused(t, bad.Validate(), where)
		})
	}
}

// sums is an environment of one tool: it is solved by add(1, 2).
type sums struct {
	set  tools.Set
	done bool
	said string
}

func (s *sums) Tools() tools.Set { return s.set }
func (s *sums) Success() bool    { return s.done }

func (s *sums) Reset(context.Context, tools.Task) (json.RawMessage, error) {
	s.done, s.said = false, ""
	return json.RawMessage(`{}`), nil
}

func (s *sums) Step(_ context.Context, call tools.Call) (tools.Step, error) {
	if s.done = string(call.Arguments) == `{"a":1,"b":2}`; s.done {
		return tools.Termination(call, tools.Result{Content: json.RawMessage(`{"sum":3}`)}, 1), nil
	}
	return tools.Transition(call, tools.Result{Content: json.RawMessage(`{"error":"no"}`), IsError: true}, 0), nil
}

func (s *sums) Say(_ context.Context, text string) (tools.Step, error) {
	s.said = text
	return tools.Transition(tools.Call{}, tools.Result{}, 0).Spoken(text), nil
}

// answers makes a server that gives these bodies one after the other, and
// keeps the requests.
func answers(t *testing.T, status int, bodies ...string) (url string, requests *[]map[string]any) {
	t.Helper()
	requests = &[]map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request map[string]any
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		request["path"] = r.URL.Path
		request["key"] = r.Header.Get("Authorization")
		*requests = append(*requests, request)
		w.WriteHeader(status)
		if n := len(*requests); n <= len(bodies) {
			_, _ = w.Write([]byte(bodies[n-1]))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

// steady makes a server that always answers the same.
func steady(t testing.TB, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
	t.Cleanup(server.Close)
	return server.URL
}

func config(url string) rollout.Config {
	return rollout.Config{URL: url, Model: "m", NumCtx: 100}.WithDefaults()
}

const (
	wrongCall = `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":12345678901234567890}}}]},"done":true,"done_reason":"stop","prompt_eval_count":20,"eval_count":5,"logprobs":[{"token":"x","logprob":-0.5},{"token":"y","logprob":-0.25}]}`
	rightCall = `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":2}}}]},"done":true,"done_reason":"stop","prompt_eval_count":40,"eval_count":6}`
)

func TestChatSendsWhatWasSaidAndKeepsWhatCame(t *testing.T) {
	url, requests := answers(t, http.StatusOK, wrongCall, rightCall)
	think, temperature := true, 0.0
	c := config(url)
	c.Think, c.LogProbs, c.Temperature, c.NumPredict = &think, true, &temperature, 50
	env := &sums{set: adder(t)}
	got, err := rollout.Chat{Config: c}.Run(t.Context(), env, prompt("user"), 7)
	if err != nil {
		t.Fatal(err)
	}
	if !env.done || got.Failure != nil || !got.Trajectory.Success || len(got.Turns) != 2 || got.FinishReason != "stop" {
		t.Fatalf("%+v", got)
	}
	first, second := (*requests)[0], (*requests)[1]
	options := first["options"].(map[string]any)
	if options["num_ctx"] != 100.0 || options["seed"] != 7.0 || options["temperature"] != 0.0 || options["num_predict"] != 50.0 || first["think"] != true || first["logprobs"] != true || first["stream"] != false {
		t.Errorf("the request was %v", first)
	}
	sent, _ := json.Marshal(second["messages"])
	if len(second["messages"].([]any)) != 3 {
		t.Errorf("the second request has the messages %s", sent)
	}
	if string(got.Messages[0]) != `{"eval_count":5,"role":"assistant","content":"","thinking":"Hm.","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":12345678901234567890}}}]}` {
		t.Errorf("numbers were rounded or fields lost: %s", got.Messages[0])
	}
	if got.Turns[0].Body != wrongCall || len(got.Turns[0].LogProbs) != 2 || got.Turns[0].LogProbs[0] != -0.5 {
		t.Errorf("kept %+v", got.Turns[0])
	}
}

func TestOpenAI(t *testing.T) {
	url, requests := answers(t, http.StatusOK,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"add","arguments":"{\"a\":3,\"b\":2}"}}]},"finish_reason":"tool_calls","logprobs":{"content":[{"token":"x","logprob":-0.125}]}}],"usage":{"prompt_tokens":20,"completion_tokens":5}}`,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_2","type":"function","function":{"name":"add","arguments":"{\"a\":1,\"b\":2}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":30,"completion_tokens":5}}`)
	env := &sums{set: adder(t)}
	got, err := rollout.OpenAI{Config: config(url), Key: "secret"}.Run(t.Context(), env, prompt("user"), 7)
	if err != nil {
		t.Fatal(err)
	}
	if !env.done || got.Failure != nil || got.Turns[0].LogProbs[0] != -0.125 || got.Turns[1].PromptTokens != 30 {
		t.Errorf("%+v", got)
	}
	first, second := (*requests)[0], (*requests)[1]
	if first["path"] != "/v1/chat/completions" || first["key"] != "Bearer secret" || first["seed"] != 7.0 || first["options"] != nil {
		t.Errorf("the request was %v", first)
	}
	messages := second["messages"].([]any)
	if len(messages) != 3 || messages[1].(map[string]any)["eval_count"] != nil || messages[2].(map[string]any)["tool_call_id"] != "call_1" {
		t.Errorf("the second request has the messages %v", messages)
	}
}

// TestFormat: the schema that constrains the output reaches the server in the
// form of each route. What a real server makes of it, package ollamatest shows.
func TestFormat(t *testing.T) {
	const schema = `{"type":"object","required":["value"]}`
	config := func(url string) rollout.Config {
		c := config(url)
		c.Format, c.MaxTurns = json.RawMessage(schema), 1
		return c
	}
	type runner interface {
		Run(ctx context.Context, env tools.Env, task tools.Task, seed int) (rollout.Transcript, error)
	}
	for name, test := range map[string]struct {
		route       func(url string) runner
		field, want string
	}{
		"chat":    {func(url string) runner { return rollout.Chat{Config: config(url)} }, "format", schema},
		"raw":     {func(url string) runner { return rollout.Raw{Config: config(url), Template: "{{ .Prompt }}"} }, "format", schema},
		"open AI": {func(url string) runner { return rollout.OpenAI{Config: config(url)} }, "response_format", `{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":` + schema + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			url, requests := answers(t, http.StatusOK, `{}`)
			if _, err := test.route(url).Run(t.Context(), &sums{set: adder(t)}, prompt("user"), 1); err != nil {
				t.Fatal(err)
			}
			var want any
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if len(*requests) == 0 {
				t.Fatal("nothing was asked")
			}
			if diff := cmp.Diff(want, (*requests)[0][test.field]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenAIFailures(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		kind       string
	}{
		{"no choice", `{"choices":[]}`, 200, grpo.FailureInfrastructure},
		{"no reason to finish", `{"choices":[{"message":{"role":"assistant","content":"x"}}]}`, 200, grpo.FailureInfrastructure},
		{"a context that is too small", `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error"}}`, 400, grpo.FailureHarness},
		{"an overloaded server", `{"error":{"message":"overloaded"}}`, 503, grpo.FailureInfrastructure},
		{"lost output", `{"choices":[{"message":{"role":"assistant","content":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":30}}`, 200, grpo.FailureServing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url, _ := answers(t, test.status, test.body)
			got, err := rollout.OpenAI{Config: config(url)}.Run(t.Context(), &sums{set: adder(t)}, prompt("user"), 1)
			if err != nil || got.Failure == nil || got.Failure.Kind != test.kind {
				t.Errorf("got %+v, %v; want %s", got.Failure, err, test.kind)
			}
		})
	}
}
