package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/grpo"
	"toolgym/grpo/objective"
	"toolgym/tools"
)

// addLine is a line of a scoring file.
func addLine(group string, n int) string {
	text, _ := json.Marshal(adding(n)) // a string always encodes
	return fmt.Sprintf(`{"group":%q,"tools":%s,"expected":%s,"text":%s}`+"\n", group, adder, addFive, text)
}

// Each line of the answer is what the library writes, and what the document
// says.
func TestScoreStream(t *testing.T) {
	f := serve(t, api.Config{})
	doc := readContract(t, f)
	var in strings.Builder
	for i := range 300 {
		in.WriteString(addLine(fmt.Sprint(i/4), 4+i%3))
		if i%50 == 7 {
			in.WriteString("nonsense\n")
		}
	}
	scorer, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	settings := []struct {
		query   string
		options grpo.StreamOptions
	}{
		{"", grpo.StreamOptions{}},
		{"&normalization=batch", grpo.StreamOptions{Normalization: objective.NormalizeBatch}},
		{"&normalization=none", grpo.StreamOptions{Normalization: objective.NormalizeNone}},
		{"&aggregation=normalize_then_sum&loss=%7B%22kl%22:%22k1%22%7D", grpo.StreamOptions{Aggregation: objective.NormalizeThenSum}},
	}
	for _, setting := range settings {
		var want bytes.Buffer
		setting.options.Grouped = true
		metrics, err := scorer.Stream(t.Context(), strings.NewReader(in.String()), &want, setting.options)
		if err != nil {
			t.Fatal(err)
		}
		last, err := json.Marshal(map[string]grpo.Metrics{"metrics": metrics})
		if err != nil {
			t.Fatal(err)
		}
		got := f.ask("POST", "/v1/score/stream?metrics=true"+setting.query, in.String(), "Content-Type: application/x-ndjson")
		if got.status != http.StatusOK || got.body != want.String()+string(last)+"\n" {
			t.Errorf("%q: %d, %d bytes; want %d", setting.query, got.status, len(got.body), want.Len())
		}
		for line := range strings.Lines(want.String()[:20_000]) {
			if strings.HasSuffix(line, "\n") {
				for _, flaw := range doc.flaws("#/paths/~1v1~1score~1stream/post/responses/200/content/application~1x-ndjson/schema", line) {
					t.Error(flaw)
				}
			}
		}
	}
}

func TestScoreStreamRefuses(t *testing.T) {
	f := serve(t, api.Config{})
	tests := []struct {
		name, query, kind string
		status            int
	}{
		{"a form", "", "application/x-www-form-urlencoded", 415},
		{"text, as a page may send it", "", "text/plain", 415},
		{"an unknown normalization", "?normalization=mean", "application/x-ndjson", 422},
		{"an unknown aggregation", "?aggregation=mean", "application/x-ndjson", 422},
		{"a loss that is none", "?loss=5", "application/x-ndjson", 422},
		{"a loss of an unknown type", "?loss=" + url.QueryEscape(`{"type":"ppo"}`), "application/x-ndjson", 422},
		{"an unknown parameter", "?rubrik={}", "application/x-ndjson", 422},
		{"a rubric that is none", "?rubric=5", "application/x-ndjson", 422},
		{"a rubric of an unknown criterion", "?rubric=" + url.QueryEscape(`{"criteria":{"speed":{"weight":1}}}`), "application/x-ndjson", 422},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := f.ask("POST", "/v1/score/stream"+test.query, addLine("g", 5), "Content-Type: "+test.kind)
			if got.status != test.status {
				t.Errorf("%d %s, want %d", got.status, got.body, test.status)
			}
			checkProblem(t, "POST", got)
			readContract(t, f).check(t, "POST", "/v1/score/stream", got)
		})
	}
	if got := f.ask("POST", "/v1/score/stream?loss="+url.QueryEscape(`{"epsilon":-1}`), addLine("g", 5), "Content-Type: application/x-ndjson"); !strings.Contains(got.body, "epsilon: -1; want") {
		t.Errorf("the field of the loss is not named: %s", got.body)
	}
	if got := f.ask("POST", "/v1/score/stream", "\x1f\x8b\x08", "Content-Type: application/x-ndjson", "Content-Encoding: gzip"); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("packed lines: %d %s", got.status, got.body)
	}
	if got := f.ask("POST", "/v1/score/stream", ""); got.status != http.StatusOK || got.body != "" || got.header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("nothing is answered with %d %q", got.status, got.body)
	}
}

// A client that writes group by group reads each group's answers before it
// writes the one after the next.
func TestStreamIsAnsweredAsItIsSent(t *testing.T) {
	c := dial(t, serve(t, api.Config{}).url)
	lines, to := io.Pipe()
	wrote := make(chan error, 1)
	go func() {
		_, err := io.WriteString(to, addLine("0", 5)+addLine("0", 6)+addLine("1", 5))
		wrote <- err
	}()
	answers, err := c.ScoreStream(t.Context(), lines, grpo.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer answers.Close()
	decoder := json.NewDecoder(answers)
	read := func() (line grpo.ScoredLine) {
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		return line
	}
	if first, second := read(), read(); *first.Reward != 5.45 || second.Index != 1 || second.Advantage >= 0 {
		t.Errorf("%+v, then %+v", first, second)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(to, addLine("2", 6)); err != nil {
		t.Fatal(err)
	}
	if line := read(); line.Group != "1" {
		t.Errorf("%+v", line)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if line := read(); line.Group != "2" {
		t.Errorf("%+v", line)
	}
	if err := decoder.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		t.Errorf("%v, want the end", err)
	}
}

func TestStreamByTheClient(t *testing.T) {
	c := dial(t, serve(t, api.Config{}).url)
	rubric := grpo.Rubric{Criteria: map[string]grpo.Criterion{"completion": {Weight: 7}}}
	answers, err := c.ScoreStream(t.Context(), strings.NewReader(addLine("g", 5)), grpo.Request{Rubric: &rubric, Normalization: objective.NormalizeNone})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answers)
	if err := errors.Join(err, answers.Close()); err != nil || !strings.HasPrefix(string(text), `{"group":"g","index":0,"reward":7,`) {
		t.Errorf("%s, %v", text, err)
	}
	_, err = c.ScoreStream(t.Context(), strings.NewReader(""), grpo.Request{Rubric: &grpo.Rubric{}})
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid || e.Where != "rubric" {
		t.Errorf("%v, want one about the rubric", err)
	}
	_, err = c.ScoreStream(t.Context(), strings.NewReader(""), grpo.Request{Aggregation: objective.NormalizeThenSum, Loss: &objective.Config{}})
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid || e.Where != "loss" {
		t.Errorf("%v, want one about the loss", err)
	}
}

// raw opens a stream on a bare connection and returns it.
func raw(t *testing.T, f *fixture) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "POST /v1/score/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// chunked is a text as a chunk of HTTP.
func chunked(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// A client that sends and does not read is let go.
func TestStreamToAClientThatStopsReading(t *testing.T) {
	f := serve(t, api.Config{StreamTimeout: 50 * time.Millisecond})
	conn := raw(t, f)
	var lines strings.Builder
	for i := range 200 {
		lines.WriteString(addLine(fmt.Sprint(i), 5))
	}
	chunk := chunked(lines.String())
	for range 10_000 { // far more than the buffers between us hold
		if _, err := io.WriteString(conn, chunk); err != nil {
			return
		}
	}
	t.Error("the server still takes lines, and nobody reads the answers")
}

// A client that stops sending is told so while that is possible; later the
// answer breaks off.
func TestStreamOfAClientThatStopsSending(t *testing.T) {
	t.Run("before the first answer", func(t *testing.T) {
		conn := raw(t, serve(t, api.Config{StreamTimeout: 50 * time.Millisecond}))
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s, want 408", response.Status)
		}
	})
	t.Run("after an answer", func(t *testing.T) {
		conn := raw(t, serve(t, api.Config{StreamTimeout: time.Second}))
		if _, err := io.WriteString(conn, chunked(addLine("a", 5)+addLine("b", 5))); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if !strings.HasPrefix(string(text), `{"group":"a"`) || err == nil {
			t.Errorf("%s, %v; want one line and an answer that is not whole", text, err)
		}
	})
}

// Streams beyond their number are told to come again.
func TestStreamsAreBounded(t *testing.T) {
	f := serve(t, api.Config{MaxStreams: 1})
	conn := raw(t, f)
	if _, err := io.WriteString(conn, chunked(addLine("a", 5)+addLine("b", 5))); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(conn)
	response, err := http.ReadResponse(answers, nil) // the stream is there
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got := f.ask("POST", "/v1/score/stream", addLine("c", 5))
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	checkProblem(t, "POST", got)
	if _, err := io.WriteString(conn, "0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Error(err)
	}
}

// A stream is refused when its lines take more memory than there is, and gives back
// what it took.
func TestStreamsAreWeighed(t *testing.T) {
	f := serve(t, api.Config{MaxScoring: 1 << 20})
	large := addLine("a", 5) + strings.Replace(addLine("a", 5), `"text":"`, `"text":"`+strings.Repeat("ab ", 3_600_000), 1)
	for range 2 {
		got := f.ask("POST", "/v1/score/stream", large)
		if got.status != http.StatusRequestEntityTooLarge || !strings.Contains(got.body, "the tools and scores take more than 16777216 bytes") {
			t.Fatalf("a line of 10.3 MiB: %d %.300s; want 413", got.status, got.body)
		}
		readContract(t, f).check(t, "POST", "/v1/score/stream", got)
	}
	var small strings.Builder
	for i := range 2000 {
		small.WriteString(strings.Replace(addLine(fmt.Sprint(i), 5), `"text":"`, `"text":"`+strings.Repeat("ab ", 4<<10), 1))
	}
	if got := f.ask("POST", "/v1/score/stream", small.String()); got.status != http.StatusOK || strings.Count(got.body, "\n") != 2000 {
		t.Errorf("24 MB of small groups: %d, %d lines; want 200 and 2,000", got.status, strings.Count(got.body, "\n"))
	}
	if got := f.ask("POST", "/v1/score", groupOf(adder, addFive, `[{"text":""}]`)); got.status != http.StatusOK {
		t.Errorf("a request after them: %d %.300s; want 200", got.status, got.body)
	}
}
