package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"toolgym/api"
	"toolgym/internal/sse"
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// start starts a training and returns its id.
func start(t *testing.T, url, body string, headers ...string) string {
	t.Helper()
	got := ask(t, http.MethodPost, url+"/v1/policy/runs", body, append(headers, sendsJSON)...)
	var run struct{ ID string }
	if err := json.Unmarshal([]byte(got.text), &run); err != nil || got.status != http.StatusCreated {
		t.Fatalf("%d %v", got.status, err)
	}
	return run.ID
}

// trainedRun starts a training of a few updates and waits for its end.
func trainedRun(t *testing.T, url string, headers ...string) string {
	t.Helper()
	id := start(t, url, `{"env":"arithmetic","algo":"grpo","stages":["0","1"],"updates":3,"seed":2}`, headers...)
	events := load(t, url+"/v1/policy/runs/"+id+"/events", headers...)
	if !strings.Contains(events, `"state":"done"`) {
		t.Fatalf("the training ended otherwise: %s", events)
	}
	return id
}

// frames opens the stream of the trainings that a query selects.
func frames(t *testing.T, url, query string, headers ...string) io.Reader {
	t.Helper()
	_, _, body := send(t.Context(), t, http.MethodGet, url+"/lab/training/events"+query, "", headers...)
	return body
}

// events reads a stream to its end, however it comes, or until one has a text.
func events(from io.Reader, until string) (list []sse.Event) {
	for e, err := range sse.Read(from) {
		if err != nil {
			return list
		}
		if list = append(list, e); until != "" && bytes.Contains(e.Data, []byte(until)) {
			return list
		}
	}
	return list
}

func TestTrainingStream(t *testing.T) {
	url := serve(t, api.Config{})
	id := start(t, url, `{"stages":["0"],"updates":4}`)
	all := events(frames(t, url, "?run="+id), "")
	if len(all) < 2 || all[len(all)-1].Name != "end" {
		t.Fatalf("%d events", len(all))
	}
	last := all[len(all)-2]
	for _, want := range []string{`"iteration":"4 of 4"`, `"key":"success/0"`, `"to":[1,2,3,4]`} {
		if !bytes.Contains(last.Data, []byte(want)) {
			t.Errorf("the last frame lacks %s: %.500s", want, last.Data)
		}
	}
	again := events(frames(t, url, "?run="+id, "Last-Event-ID: "+last.ID), "")
	if len(again) != 1 || again[0].Name != "end" {
		t.Errorf("who has seen the last frame gets %d events", len(again))
	}
	for query, want := range map[string]int{"run=none": 404, "bound=-1": 422, "bound=x": 422, "runs=1": 422, "run=" + strings.Repeat("a&run=", 7): 422} {
		for _, path := range []string{"", "/view", "/runs", "/events", "/curves/svg"} {
			if got := ask(t, http.MethodGet, url+"/lab/training"+path+"?"+query, ""); got.status != want {
				t.Errorf("%s?%s: %d, want %d", path, query, got.status, want)
			}
		}
	}
	if got := ask(t, http.MethodGet, url+"/lab/training/curves/gif?run="+id, ""); got.status != http.StatusUnprocessableEntity {
		t.Errorf("a file of another kind: %d", got.status)
	}
}

// TestTrainingStreamEndsWithTheServer: a run that is held has no end of its own.
func TestTrainingStreamEndsWithTheServer(t *testing.T) {
	before := goleak.IgnoreCurrent()
	defer goleak.VerifyNone(t, before)
	defer http.DefaultClient.CloseIdleConnections()
	server, err := api.New(api.Config{Specs: tools.Specs{gridworld.Spec()}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(server)
	defer listening.Close()
	url := listening.URL
	id := start(t, url, `{"env":"gridworld","stages":["1"]}`)
	body := frames(t, url, "?run="+id)
	events(body, `"to":[1`)
	if err := server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	events(body, "") // ends
}

// TestTrainingsOfOthers are not there.
func TestTrainingsOfOthers(t *testing.T) {
	tom, one, errOne := api.Issue("tom", api.Train)
	tim, two, errTwo := api.Issue("tim", api.Train)
	if err := errors.Join(errOne, errTwo); err != nil {
		t.Fatal(err)
	}
	url := serve(t, api.Config{Tokens: []api.Token{one, two}})
	id := start(t, url, `{"stages":["0"],"updates":2}`, bearer(tom))
	for _, path := range []string{"", "/view", "/runs", "/events", "/curves/csv", "/curves/svg"} {
		for token, want := range map[string]int{tom: 200, tim: 404} {
			ctx, cancel := context.WithCancel(t.Context())
			if got, _, _ := send(ctx, t, http.MethodGet, url+"/lab/training"+path+"?run="+id, "", bearer(token)); got != want {
				t.Errorf("%s by %.3s: %d, want %d", path, token, got, want)
			}
			cancel()
		}
	}
	page := load(t, url+"/lab/training", bearer(tim))
	if strings.Contains(page, id) || !strings.Contains(page, "Nothing has been trained here yet") {
		t.Errorf("what tim sees: %.200s", page)
	}
}

// TestTrainingOfAnEarlierServer can go on and be deleted; there is nothing to stop.
func TestTrainingOfAnEarlierServer(t *testing.T) {
	config := api.Config{Specs: tools.Specs{gridworld.Spec()}, Logger: slog.New(slog.DiscardHandler), Data: t.TempDir()}
	var id string
	for turn := range 2 {
		server, err := api.New(config)
		if err != nil {
			t.Fatal(err)
		}
		listening := httptest.NewServer(server)
		if turn == 0 {
			id = start(t, listening.URL, `{"env":"gridworld","stages":["1"]}`)
			events(frames(t, listening.URL, ""), `"to":[1,2`)
		}
		page := load(t, listening.URL+"/lab/training?run="+id)
		for text, want := range map[string]bool{`data-do="pause"`: turn == 0, `data-do="stop"`: turn == 0, `data-do="resume"`: turn == 1, `data-do="delete"`: turn == 1} {
			if strings.Contains(page, text) != want {
				t.Errorf("server %d: %s is there: %t", turn, text, !want)
			}
		}
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		listening.Close()
	}
}

// TestTrainingPresets are trainings that the server takes as they stand.
func TestTrainingPresets(t *testing.T) {
	url := serve(t, api.Config{MaxRuns: 9})
	page := load(t, url+"/lab/training")
	presets := regexp.MustCompile(`<option data-start="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(presets) != 5 {
		t.Errorf("%d presets", len(presets))
	}
	for _, preset := range presets {
		id := start(t, url, html.UnescapeString(preset[1]))
		if got := ask(t, http.MethodDelete, url+"/v1/policy/runs/"+id, ""); got.status != http.StatusNoContent {
			t.Errorf("ending %s: %d", preset[1], got.status)
		}
	}
}
