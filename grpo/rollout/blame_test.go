package rollout_test

import (
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
