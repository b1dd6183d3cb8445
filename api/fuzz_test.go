package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// callCrashers are bodies that were answered wrongly once, or that are of the
// kind which is.
func callCrashers() map[string]string {
	return map[string]string{
		"right":                       `{"name":"add","arguments":{"n":1},"request_id":"a"}`,
		"field of another case":       `{"Name":"add"}`,
		"duplicate key":               `{"name":"add","name":"done"}`,
		"arguments null":              `{"name":"add","arguments":null}`,
		"arguments a string of JSON":  `{"name":"add","arguments":"{\"n\":1}"}`,
		"integer written as 1.0":      `{"name":"add","arguments":{"n":1.0}}`,
		"exponent bomb":               `{"name":"add","arguments":{"n":1e999999999}}`,
		"digits":                      `{"name":"add","arguments":{"n":` + strings.Repeat("9", 5000) + `}}`,
		"lone surrogate":              `{"name":"\ud800"}`,
		"pointer in a field name":     `{"name":"add","~1/~0":1}`,
		"HTML in a field name":        `{"name":"add","<script>":1}`,
		"name of a line break":        `{"name":"a\r\nb"}`,
		"empty":                       ``,
		"byte order mark":             "\ufeff{}",
		"nested beyond the reader":    `{"name":"add","arguments":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
		"unknown tool with long name": `{"name":"` + strings.Repeat("x", 1000) + `"}`,
	}
}

// FuzzCalls sends any bytes as a call. They are a step or a refusal, never a
// fault, and what is answered is what the document describes; sent again under
// their request id, they are answered alike.
func FuzzCalls(f *testing.F) {
	for _, body := range callCrashers() {
		f.Add([]byte(body))
	}
	server, err := api.New(api.Config{Specs: tools.Specs{tallySpec(nil)}, Rate: 1e9, CallTimeout: time.Second,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		started := direct(server, "POST", "/v1/episodes", `{"task_id":"tally/0/1"}`)
		episode := started.header.Get("Location")
		got := direct(server, "POST", episode+"/calls", string(body))
		var call client.Call
		if json.Unmarshal(body, &call) == nil && call.Name == "break" {
			t.Skip("a tool that fails on purpose")
		}
		switch got.status {
		case http.StatusOK:
			if _, err := strictjson.Decode(body); err != nil {
				t.Errorf("%q was accepted: %v", body, err)
			}
			if again := direct(server, "POST", episode+"/calls", string(body)); call.RequestID != "" && again.body != got.body {
				t.Errorf("%q was answered %s, then %s", body, got.body, again.body)
			}
		case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
			checkProblem(t, "POST", got)
		default:
			t.Errorf("%q was answered %d %s", body, got.status, got.body)
		}
		if !json.Valid([]byte(got.body)) {
			t.Errorf("%q was answered %q", body, got.body)
		}
		direct(server, "DELETE", episode, "")
	})
}

// direct asks a handler without a connection.
func direct(handler http.Handler, method, path, body string) answer {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}
