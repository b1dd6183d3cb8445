package lab_test

import (
	"bufio"
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
	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// An answer is closed when its test ends.
type answer struct {
	status int
	body   io.Reader
}

// ask sends a request as the token's owner and returns the answer.
func ask(ctx context.Context, t *testing.T, method, url, body, token, seen string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	if seen != "" {
		r.Header.Set("Last-Event-ID", seen)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = got.Body.Close() })
	return answer{got.StatusCode, got.Body}
}

// started starts a run and returns its id.
func started(t *testing.T, url, body, token string) string {
	t.Helper()
	got := ask(t.Context(), t, http.MethodPost, url+"/v1/policy/runs", body, token, "")
	var run struct{ ID string }
	if err := json.NewDecoder(got.body).Decode(&run); err != nil || got.status != http.StatusCreated {
		t.Fatalf("%d %v", got.status, err)
	}
	return run.ID
}

// An event of the stream.
type event struct{ id, name, data string }

// events reads a stream to its end, or until enough says so.
func events(t *testing.T, from io.Reader, enough func(event) bool) (list []event) {
	t.Helper()
	var e event
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return list
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			list = append(list, e)
			if enough(e) {
				return list
			}
			e = event{}
		}
	}
}

func never(event) bool { return false }

func TestTrainingStream(t *testing.T) {
	url := serve(t, api.Config{})
	id := started(t, url, `{"stages":["0"],"updates":4}`, "")
	all := events(t, ask(t.Context(), t, http.MethodGet, url+"/lab/training/events?run="+id, "", "", "").body, never)
	if len(all) < 2 || all[len(all)-1].name != "end" {
		t.Fatalf("%d events", len(all))
	}
	last := all[len(all)-2]
	for _, want := range []string{`"iteration":"4 of 4"`, `"key":"success/0"`, `"to":[1,2,3,4]`} {
		if !strings.Contains(last.data, want) {
			t.Errorf("the last frame lacks %s: %.500s", want, last.data)
		}
	}
	again := events(t, ask(t.Context(), t, http.MethodGet, url+"/lab/training/events?run="+id, "", "", last.id).body, never)
	if len(again) != 1 || again[0].name != "end" {
		t.Errorf("who has seen the last frame gets %d events", len(again))
	}
	for query, want := range map[string]int{"run=none": 404, "bound=-1": 422, "bound=x": 422, "runs=1": 422, "run=" + strings.Repeat("a&run=", 7): 422} {
		for _, path := range []string{"", "/view", "/runs", "/events", "/curves/svg"} {
			if got := ask(t.Context(), t, http.MethodGet, url+"/lab/training"+path+"?"+query, "", "", ""); got.status != want {
				t.Errorf("%s?%s: %d, want %d", path, query, got.status, want)
			}
		}
	}
	if got := ask(t.Context(), t, http.MethodGet, url+"/lab/training/curves/gif?run="+id, "", "", ""); got.status != http.StatusUnprocessableEntity {
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
	id := started(t, url, `{"env":"gridworld","stages":["1"]}`, "")
	body := ask(t.Context(), t, http.MethodGet, url+"/lab/training/events?run="+id, "", "", "").body
	events(t, body, func(e event) bool { return strings.Contains(e.data, `"to":[1`) })
	if err := server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	events(t, body, never) // ends
}

// TestTrainingsOfOthers are not there.
func TestTrainingsOfOthers(t *testing.T) {
	tom, one, errOne := api.Issue("tom", api.Train)
	tim, two, errTwo := api.Issue("tim", api.Train)
	if err := errors.Join(errOne, errTwo); err != nil {
		t.Fatal(err)
	}
	url := serve(t, api.Config{Tokens: []api.Token{one, two}})
	id := started(t, url, `{"stages":["0"],"updates":2}`, tom)
	for _, path := range []string{"", "/view", "/runs", "/events", "/curves/csv", "/curves/svg"} {
		for token, want := range map[string]int{tom: 200, tim: 404} {
			ctx, cancel := context.WithCancel(t.Context())
			if got := ask(ctx, t, http.MethodGet, url+"/lab/training"+path+"?run="+id, "", token, "").status; got != want {
				t.Errorf("%s by %.3s: %d, want %d", path, token, got, want)
			}
			cancel()
		}
	}
	page, err := io.ReadAll(ask(t.Context(), t, http.MethodGet, url+"/lab/training", "", tim, "").body)
	if err != nil || strings.Contains(string(page), id) || !strings.Contains(string(page), "Nothing has been trained here yet") {
		t.Errorf("what tim sees: %v %.200s", err, page)
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
			id = started(t, listening.URL, `{"env":"gridworld","stages":["1"]}`, "")
			body := ask(t.Context(), t, http.MethodGet, listening.URL+"/lab/training/events", "", "", "").body
			events(t, body, func(e event) bool { return strings.Contains(e.data, `"to":[1,2`) })
		}
		page, err := io.ReadAll(ask(t.Context(), t, http.MethodGet, listening.URL+"/lab/training?run="+id, "", "", "").body)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]bool{`data-do="pause"`: turn == 0, `data-do="stop"`: turn == 0, `data-do="resume"`: turn == 1, `data-do="delete"`: turn == 1} {
			if strings.Contains(string(page), text) != want {
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
	page, err := io.ReadAll(ask(t.Context(), t, http.MethodGet, url+"/lab/training", "", "", "").body)
	if err != nil {
		t.Fatal(err)
	}
	presets := regexp.MustCompile(`<option data-start="([^"]*)"`).FindAllStringSubmatch(string(page), -1)
	if len(presets) != 5 {
		t.Errorf("%d presets", len(presets))
	}
	for _, preset := range presets {
		id := started(t, url, html.UnescapeString(preset[1]), "")
		if got := ask(t.Context(), t, http.MethodDelete, url+"/v1/policy/runs/"+id, "", "", ""); got.status != http.StatusNoContent {
			t.Errorf("ending %s: %d", preset[1], got.status)
		}
	}
}
