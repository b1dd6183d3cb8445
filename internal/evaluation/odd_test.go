package evaluation_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/internal/evaluation"
)

// An odd reply is one that a server or a model may send, as Ollama's and as
// OpenAI's whole body, and who is to blame: "" where the form cannot carry it.
type odd struct {
	ollama, openAI string
	blame          string
}

// call is a message whose call has these arguments.
func call(arguments string) string {
	return `{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"add","arguments":` + arguments + `}}]}`
}

// message is a whole body of either form.
func message(text, blame string) odd {
	return odd{
		ollama: `{"model":"m","message":` + text + `,"done":true,"done_reason":"stop","prompt_eval_count":30,"eval_count":9}`,
		openAI: `{"choices":[{"index":0,"message":` + text + `,"finish_reason":"stop"}],"usage":{"prompt_tokens":30,"completion_tokens":9}}`,
		blame:  blame,
	}
}

// field changes one field of a body that is otherwise right.
func field(ollama, openAI, blame string) odd {
	return odd{
		ollama: strings.Replace(message(call(`{"a":1,"b":2}`), "").ollama, `"eval_count":9`, ollama, 1),
		openAI: strings.Replace(message(call(`{"a":1,"b":2}`), "").openAI, `"completion_tokens":9`, openAI, 1),
		blame:  blame,
	}
}

func both(body string) odd { return odd{body, body, infrastructure} }

// quoted is text as a JSON string, as the OpenAI form has arguments.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

const (
	passes         = "passed"
	model          = "model"
	serving        = "serving"
	infrastructure = "infrastructure"
)

func oddReplies() map[string]odd {
	nested := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `,"b":2}` }
	values := `{"a":[` + strings.Repeat("0,", 1_000_001) + `0],"b":2}`
	replies := map[string]odd{
		"right":                              message(call(`{"a":1,"b":2}`), passes),
		"arguments 130 deep":                 message(call(nested(130)), model),
		"arguments 130 deep in a string":     message(call(quoted(nested(130))), model),
		"arguments 20000 deep":               message(call(nested(20_000)), model),
		"a doubled key in arguments":         message(call(`{"a":1,"b":2,"a":1}`), model),
		"a doubled key in a string":          message(call(quoted(`{"a":1,"b":2,"a":1}`)), model),
		"over a million values":              message(call(values), model),
		"over a million values in a string":  message(call(quoted(values)), model),
		"a byte that is not UTF-8":           message(call("{\"a\":1,\"b\":\"\xff\"}"), serving),
		"content that is not UTF-8":          message("{\"role\":\"assistant\",\"content\":\"\xc3\x28\"}", serving),
		"a lone surrogate":                   message(call(`{"a":1,"b":"\ud800"}`), model),
		"NUL":                                message(call(`{"a":1,"b":"\u0000"}`), model),
		"1e999999":                           message(call(`{"a":1e999999,"b":2}`), model),
		"1e-999999":                          message(call(`{"a":1e-999999,"b":2}`), model),
		"1e99999999999999999999":             message(call(`{"a":1e99999999999999999999,"b":2}`), model),
		"minus zero":                         message(call(`{"a":-0,"b":2}`), model),
		"a number of 100000 digits":          message(call(`{"a":1`+strings.Repeat("0", 100_000)+`,"b":2}`), model),
		"NaN in a string of arguments":       message(call(quoted(`{"a":NaN,"b":2}`)), model),
		"NaN in arguments":                   message(call(`{"a":NaN,"b":2}`), infrastructure),
		"arguments that are a list":          message(call(`[1,2]`), model),
		"arguments that are a number":        message(call(`3`), model),
		"arguments that are null":            message(call(`null`), model),
		"arguments in a string that is bare": message(call(`"a=1"`), model),
		"a missing id":                       message(`{"role":"assistant","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":2}}}]}`, passes),
		"an id that is a number":             message(`{"role":"assistant","tool_calls":[{"id":7,"function":{"name":"add","arguments":{"a":1,"b":2}}}]}`, passes),
		"an id twice":                        message(`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"add","arguments":{"a":1,"b":2}}},{"id":"c","function":{"name":"add","arguments":{"a":1,"b":2}}}]}`, model),
		"no name":                            message(`{"role":"assistant","tool_calls":[{"function":{"arguments":{}}}]}`, model),
		"a name that is a number":            message(`{"role":"assistant","tool_calls":[{"function":{"name":5,"arguments":{}}}]}`, model),
		"tool_calls that is an object":       message(`{"role":"assistant","content":"","tool_calls":{"function":{"name":"add","arguments":{}}}}`, serving),
		"tool_calls that is a string":        message(`{"role":"assistant","content":"","tool_calls":"add"}`, serving),
		"tool_calls that is null":            message(`{"role":"assistant","content":"3","tool_calls":null}`, model),
		"tool_calls that holds null":         message(`{"role":"assistant","content":"3","tool_calls":[null]}`, model),
		"no role":                            message(`{"content":"3"}`, model),
		"the role of a user":                 message(`{"role":"user","content":"3"}`, serving),
		"a role that is a number":            message(`{"role":5,"content":"3"}`, serving),
		"a role that is null":                message(`{"role":null,"tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":2}}}]}`, passes),
		"content as a list of parts":         message(`{"role":"assistant","content":[{"type":"text","text":"3"}]}`, model),
		"content that is a number":           message(`{"role":"assistant","content":3}`, serving),
		"content twice":                      message(`{"role":"assistant","content":"a","content":"b"}`, serving),
		"another field 130 deep":             message(`{"role":"assistant","content":"3","extra":`+strings.Repeat("[", 130)+strings.Repeat("]", 130)+`}`, serving),
		"a count of tokens in the message":   message(`{"eval_count":4,"role":"assistant","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":2}}}]}`, passes),
		"an empty message":                   message(`{}`, serving),
		"a null message":                     message(`null`, infrastructure),
		"a message that is a string":         message(`"add"`, infrastructure),
		"a byte order mark":                  {"\ufeff" + message(call(`{"a":1,"b":2}`), "").ollama, "\ufeff" + message(call(`{"a":1,"b":2}`), "").openAI, passes},
		"a negative count of tokens":         field(`"eval_count":-9`, `"completion_tokens":-9`, infrastructure),
		"a count of 1e999999 tokens":         field(`"eval_count":1e999999`, `"completion_tokens":1e999999`, infrastructure),
		"a count beyond 64 bits":             field(`"eval_count":99999999999999999999`, `"completion_tokens":99999999999999999999`, infrastructure),
		"a count that is text":               field(`"eval_count":"9"`, `"completion_tokens":"9"`, infrastructure),
		"a count that is null":               field(`"eval_count":null`, `"completion_tokens":null`, passes),
		"another choice":                     {"", `{"choices":[{"message":` + call(`{"a":1,"b":2}`) + `,"finish_reason":"stop"},{"message":` + call(`{"a":9,"b":9}`) + `,"finish_reason":"stop"}]}`, passes},
		"no choices":                         {"", `{"choices":[]}`, infrastructure},
		"choices that are null":              {"", `{"choices":null}`, infrastructure},
		"an error with status 200":           both(`{"error":"out of memory"}`),
		"an error that names a key twice":    both(`{"error":"out of memory","error":"out of memory"}`),
		"an error that is an object":         both(`{"error":{"message":"out of memory","code":500}}`),
		"a page":                             both(`<html><body>Bad Gateway</body></html>`),
		"a stream of events":                 both("data: {\"choices\":[{\"delta\":{\"content\":\"3\"}}]}\n\n"),
		"a stream of lines":                  both("{\"done\":false}\n{\"done\":true}\n"),
		"nothing":                            both(""),
		"null":                               both("null"),
		"a list":                             both("[]"),
		"half":                               both(`{"model":"m","message":{"role":"assis`),
	}
	return replies
}

// oddServer answers a question by the reply that it names.
func oddServer(t *testing.T, replies map[string]odd) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Messages []struct{ Content string }
			Prompt   string
		}
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &request)
		switch r.URL.Path {
		case "/api/version":
			_, _ = fmt.Fprint(w, `{"version":"0.0.0"}`)
		case "/api/tags":
			_, _ = fmt.Fprint(w, `{"models":[{"name":"m:latest","digest":"aa","size":1}]}`)
		case "/v1/models":
			_, _ = fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		case "/api/show":
			_, _ = fmt.Fprint(w, `{"template":"{{ range .Messages }}{{ .Content }}{{ end }}{{ .Tools }}","capabilities":["completion","tools"]}`)
		case "/api/chat":
			_, _ = fmt.Fprint(w, replies[request.Messages[0].Content].ollama)
		case "/v1/chat/completions":
			_, _ = fmt.Fprint(w, replies[request.Messages[0].Content].openAI)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// An odd reply is its own trial's, with its own blame; the run goes on, and what
// is kept can be resumed, reported, exported and judged again.
func TestOddReplies(t *testing.T) {
	replies := oddReplies()
	names := slices.Sorted(maps.Keys(replies))
	var lines strings.Builder
	for i, name := range names {
		_, _ = fmt.Fprintf(&lines, `{"id":"q_%d","question":%q,"function":{"name":"add","parameters":{"type":"dict","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}},"ground_truth":[{"add":{"a":[1],"b":[2]}}]}`+"\n", i, name)
	}
	url, r := oddServer(t, replies), room(t)
	r.Retry = &eval.Retry{Attempts: 1}
	for run, request := range map[string]evaluation.Request{
		"ollama": {Ollama: []string{url}},
		"openai": {OpenAI: url},
	} {
		request.Run, request.Model, request.Suite, request.Concurrency = run, "m", &evaluation.Suite{Name: "odd", Lines: lines.String()}, 4
		play(t, r, request)
		records, err := r.Store.Records(t.Context(), run, "")
		if err != nil || len(records) != len(names) {
			t.Fatalf("%s: %d records, %v", run, len(records), err)
		}
		for i, record := range records {
			reply := replies[names[i]]
			blame := model
			switch {
			case record.Failure != nil:
				blame = record.Failure.Kind
			case record.Success:
				blame = passes
			}
			if absent := run == "ollama" && reply.ollama == ""; !absent && blame != reply.blame {
				t.Errorf("%s, %s: blamed on %s, want %s (%+v, tier %s)", run, names[i], blame, reply.blame, record.Failure, record.Tier)
			}
			if record.Failure != nil && len(record.Failure.Reason) > 1000 {
				t.Errorf("%s, %s: a reason of %d bytes", run, names[i], len(record.Failure.Reason))
			}
		}
		if got, err := r.Rescore(t.Context(), run); err != nil || got.Changed != 0 {
			t.Errorf("%s judged again: %+v, %v", run, got, err)
		}
		made, err := r.Report(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []report.Format{report.Text, report.Markdown, report.HTML, report.JSON, report.CSV, report.JUnit} {
			if err := made.Write(io.Discard, format); err != nil || len(made.NotComputed) > 0 {
				t.Errorf("%s as %s: %v, %v", run, format, err, made.NotComputed)
			}
		}
		if _, err := json.Marshal(records); err != nil {
			t.Errorf("exporting %s: %v", run, err)
		}
		again := play(t, r, evaluation.Request{Run: run, Resume: true, Concurrency: 4})
		if len(again.Kept) != len(names) {
			t.Errorf("%s resumed with %d trials", run, len(again.Kept))
		}
	}
}
