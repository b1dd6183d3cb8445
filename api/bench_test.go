package api_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/grpo"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// BenchmarkCall measures a tool call over REST, one client, keep-alive, with
// everything that serve has (validation, request ids, guards, rate limit, a log
// record written as JSON), beside a bare Echo handler that decodes and encodes
// the same JSON. Blocks of either alternate, so that the machine is the same to
// both; the log's records are written and go nowhere. The house's limit for x-bare is 2.5.
//
//	go test ./api -run - -bench Call -benchtime 20000x
func BenchmarkCall(b *testing.B) {
	config := api.Config{Specs: tools.Specs{arithmetic.Spec(), tallySpec(nil)}, Rate: 1e9, MaxSteps: 1 << 30, MaxMemory: 1 << 40,
		Logger: slog.New(slog.NewJSONHandler(io.MultiWriter(), nil))}
	server, err := api.New(config)
	if err != nil {
		b.Fatal(err)
	}
	ours := httptest.NewServer(server)
	defer ours.Close()
	bare := httptest.NewServer(bareEcho())
	defer bare.Close()
	b.Run("tool", func(b *testing.B) {
		call := `{"arguments":{"a":12,"b":12}}`
		compare(b, poster{ours.URL + "/v1/tools/multiply/calls", call}, poster{bare.URL + "/tool", call})
	})
	b.Run("episode", func(b *testing.B) {
		call := `{"name":"add","arguments":{"n":0}}`
		c, err := client.New(client.Config{URL: ours.URL})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		episode, err := c.Start(b.Context(), "tally/endless/1")
		if err != nil {
			b.Fatal(err)
		}
		compare(b, poster{ours.URL + "/v1/episodes/" + episode.ID() + "/calls", call}, poster{bare.URL + "/call", call})
	})
}

// BenchmarkScore measures one group of eight completions over REST, its calls
// replayed in the environment, beside a bare Echo handler that decodes the same
// request and encodes the same answer, knowing it; requests to either alternate.
// The house's limit for the median is 2 ms.
//
//	go test ./api -run - -bench Score -benchtime 2000x
func BenchmarkScore(b *testing.B) {
	server, err := api.New(api.Config{Specs: tools.Specs{arithmetic.Spec()}, Rate: 1e9, Logger: slog.New(slog.NewJSONHandler(io.MultiWriter(), nil))})
	if err != nil {
		b.Fatal(err)
	}
	ours := httptest.NewServer(server)
	defer ours.Close()
	completion := `{"text":"<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 6, \"b\": 2}}\n</tool_call>","family":"hermes","finish_reason":"stop"}`
	group := poster{ours.URL + "/v1/score", `{"groups":[{"id":"g","task_id":"arithmetic/0/3","completions":[` + strings.Repeat(completion+",", 7) + completion + `]}]}`}
	var known grpo.Response
	if err := json.Unmarshal(group.post(b), &known); err != nil {
		b.Fatal(err)
	}
	bare := httptest.NewServer(bareScore(known))
	defer bare.Close()
	other := poster{bare.URL, group.body}
	if sent := other.post(b); string(sent) != string(group.post(b)) {
		b.Fatalf("the bare handler answers %s", sent)
	}
	waits := map[string][]time.Duration{}
	for b.Loop() {
		for name, p := range map[string]poster{"": group, "bare-": other} {
			began := time.Now()
			p.post(b)
			waits[name] = append(waits[name], time.Since(began))
		}
	}
	for name, list := range waits {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, "ms/"+name+"median")
		b.ReportMetric(float64(list[len(list)*99/100].Microseconds())/1000, "ms/"+name+"p99")
	}
}

// compare times blocks of requests in turn.
func compare(b *testing.B, ours, bare poster) {
	const block = 50
	var took [2]time.Duration
	ours.post(b)
	bare.post(b)
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += block {
		for i, p := range []poster{bare, ours} {
			began := time.Now()
			for range min(block, b.N-done) {
				p.post(b)
			}
			took[i] += time.Since(began)
		}
	}
	b.ReportMetric(float64(took[0].Nanoseconds())/float64(b.N), "ns/bare")
	b.ReportMetric(float64(took[1].Nanoseconds())/float64(b.N), "ns/rest")
	b.ReportMetric(float64(took[1])/float64(took[0]), "x-bare")
}

// A poster sends the same request again and again.
type poster struct{ url, body string }

func (p poster) post(b *testing.B) []byte {
	response, err := http.Post(p.url, "application/json", strings.NewReader(p.body))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("%d %v", response.StatusCode, err)
	}
	return text
}

// bareEcho decodes the two bodies and answers what ours does, knowing it.
func bareEcho() http.Handler {
	e := echo.New()
	e.POST("/tool", func(c echo.Context) error {
		var in client.Arguments
		if err := c.Bind(&in); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, tools.Result{Content: json.RawMessage(`{"result":144}`)})
	})
	e.POST("/call", func(c echo.Context) error {
		var in client.Call
		if err := c.Bind(&in); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, client.Answer{Result: &tools.Result{Content: json.RawMessage(`{"sum":0}`)}, Reward: -0.1, Step: 1000})
	})
	return e
}

// bareScore decodes a request for scores and answers what it is told to.
func bareScore(known grpo.Response) http.Handler {
	e := echo.New()
	e.POST("/", func(c echo.Context) error {
		var in grpo.Request
		if err := c.Bind(&in); err != nil {
			return err
		}
		return c.JSON(http.StatusOK, known)
	})
	return e
}
