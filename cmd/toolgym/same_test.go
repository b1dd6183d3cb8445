package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toolgym/api"
)

// A rest is the server, asked without a connection.
type rest struct{ http.Handler }

func newRest(t *testing.T) rest {
	t.Helper()
	server, err := api.New(api.Config{Specs: shipped(), Rate: 1e9, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return rest{server}
}

func (r rest) post(path, kind, body string) (status int, answer string) {
	request := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	request.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
	return w.Code, w.Body.String()
}

// failing is a test, or one try of a property.
type failing interface {
	Context() context.Context
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// printed is what a command prints for some input.
func printed(t failing, input string, args ...string) string {
	var out, errOut bytes.Buffer
	if code := run(t.Context(), args, strings.NewReader(input), &out, &errOut); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	return out.String()
}

// sameReading compares what the server and the command line make of a body that
// is one line.
func sameReading(t failing, server rest, body string) {
	status, answer := server.post("/v1/parse", "application/json", body)
	line := printed(t, body+"\n", "parse", "--jsonl")
	if status == http.StatusOK {
		if line != answer {
			t.Errorf("%s\nthe server says %s\nthe command %s", body, answer, line)
		}
		return
	}
	var refused struct {
		Failure *struct{ Kind, Reason string }
	}
	if err := json.Unmarshal([]byte(line), &refused); err != nil || refused.Failure == nil || refused.Failure.Kind != "harness" || !strings.HasPrefix(refused.Failure.Reason, "line 1: ") {
		t.Errorf("%s\nthe server refuses it: %s\nthe command says %s", body, answer, line)
	}
}

// fieldBodies are the real failures that the parser is tested with, as bodies.
func fieldBodies(t *testing.T) (bodies []string) {
	t.Helper()
	file, err := os.Open("../../grpo/parse/testdata/tool_calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c struct {
			Family       string          `json:"family"`
			FinishReason string          `json:"finish_reason"`
			Input        json.RawMessage `json:"input"`
			Tools        json.RawMessage `json:"tools"`
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		var stream struct{ Stream json.RawMessage }
		field, input := "message", c.Input
		switch {
		case input[0] == '"':
			field = "text"
		case json.Unmarshal(input, &stream) == nil && stream.Stream != nil:
			field, input = "stream", stream.Stream
		}
		bodies = append(bodies, fmt.Sprintf(`{%q:%s,"family":%q,"finish_reason":%q,"tools":%s}`, field, input, c.Family, c.FinishReason, c.Tools))
	}
	return bodies
}

func TestRESTAndCommandReadAlike(t *testing.T) {
	server := newRest(t)
	bodies := fieldBodies(t)
	if len(bodies) != 88 {
		t.Fatalf("%d bodies, want 88", len(bodies))
	}
	for _, body := range bodies {
		if status, answer := server.post("/v1/parse", "application/json", body); status != http.StatusOK {
			t.Errorf("%d %s for %s", status, answer, body)
		}
		sameReading(t, server, body)
	}
}

// Whatever the body, both answer alike or both refuse.
func TestRESTAndCommandReadAnythingAlike(t *testing.T) {
	server := newRest(t)
	bodies := fieldBodies(t)
	values := []string{
		`""`, `"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"`, `null`, `5`, `-0`, `1e999`, `true`, `[]`, `{}`, `[{}]`, `[5]`, `"hermes"`, `"auto"`, `"stop"`,
		`"\ud800"`, "\"\xff\"", `NaN`, `{"role":"assistant","content":"x","x":1}`, `{"error":"x"}`, `{"a":1,"a":2}`, `[{"name":"f"}]`, `[{"name":"f","parameters":null}]`,
		`[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object"}}}]`, `[{"name":"f"},{"name":"f"}]`, `[{"name":"f","parameters":{"$ref":"http://x/"}}]`,
		`[{"name":"f","parametres":{}}]`, `[{"function":{"name":"f"},"type":"x"}]`, `[{"choices":[{"delta":{"content":"x"}}]}]`,
	}
	keys := []string{"text", "message", "stream", "family", "finish_reason", "tools", "Text", "wat", "~/"}
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SampledFrom(bodies).Draw(t, "field body")
		if rapid.Bool().Draw(t, "made up") {
			var members []string
			for range rapid.IntRange(0, 4).Draw(t, "members") {
				members = append(members, fmt.Sprintf("%q:%s", rapid.SampledFrom(keys).Draw(t, "key"), rapid.SampledFrom(values).Draw(t, "value")))
			}
			body = "{" + strings.Join(members, ",") + "}"
		}
		for range rapid.IntRange(0, 2).Draw(t, "wounds") {
			i := rapid.IntRange(0, len(body)).Draw(t, "at")
			body = body[:i] + rapid.SampledFrom([]string{`"`, `}`, ` `, `,`, `\`, "\x00", "é"}).Draw(t, "with") + body[i:]
		}
		if strings.Contains(body, "\n") {
			t.Skip("more than one line")
		}
		sameReading(t, server, body)
	})
}

// The lines of a file get the same bytes from the stream of the server and from
// the command, whatever they are.
func TestRESTAndCommandScoreAlike(t *testing.T) {
	server := newRest(t)
	texts := []string{"", "You are welcome.", "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":1,\"b\":2}}</tool_call>", "<think>", "{", "é"}
	tasks := []string{`"task_id":"arithmetic/restraint/4"`, `"task_id":"arithmetic/2/17"`, `"task_id":"chess/0/1"`, `"tools":[],"expected":{"answer":"Oslo"}`, `"expected":5`}
	rapid.Check(t, func(t *rapid.T) {
		var lines strings.Builder
		for i := range rapid.IntRange(0, 12).Draw(t, "lines") {
			if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
				lines.WriteString(rapid.SampledFrom([]string{"\n", "nonsense\n", `{"group":"g","wat":1}` + "\n"}).Draw(t, "line"))
				continue
			}
			text, err := json.Marshal(rapid.SampledFrom(texts).Draw(t, "text"))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&lines, `{"group":"g%d",%s,"text":%s}`+"\n", i/rapid.IntRange(1, 4).Draw(t, "size"), rapid.SampledFrom(tasks).Draw(t, "task"), text)
		}
		normalization := rapid.SampledFrom([]string{"group", "batch", "none"}).Draw(t, "normalization")
		status, answer := server.post("/v1/score/stream?metrics=true&normalization="+normalization, "application/x-ndjson", lines.String())
		line := printed(t, lines.String(), "score", "--grouped", "--json", "--normalization", normalization)
		if status != http.StatusOK || answer != line {
			t.Errorf("the server says %d %s\nthe command %s", status, answer, line)
		}
	})
}
