package plugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/grpo/eval"
	"toolgym/grpo/rollout"
	"toolgym/internal/ollamatest"
	"toolgym/plugin"
	"toolgym/tools"
)

// TestComparison makes the table of README.md: the same 30 tasks and seeds, on
// the same server, by toolgym's chat route, by this package's agent and by
// langchaingo's own parts; greedily, and as the model samples. Our agent must
// not be worse than the chat route.
//
//	go test ./plugin -run TestComparison -v
func TestComparison(t *testing.T) {
	if testing.Short() {
		t.Skip("300 episodes")
	}
	server := ollamatest.Start(t)
	noLeak(t)
	items := arithmeticItems(t, 10, "0", "1", "2")
	table := "| who plays | temperature | stage 0 | stage 1 | stage 2 | complete, of 30 | right answer |\n|---|---|---|---|---|---|---|\n"
	temperatures := []float64{0}
	if testing.Verbose() { // the whole table is for a reader
		temperatures = append(temperatures, 0.7)
	}
	for _, temperature := range temperatures {
		passed := map[string]int{}
		rows := contestants(t, server.URL, temperature)
		for _, row := range rows {
			levels, right := map[string]int{}, 0
			for _, record := range driven(t, items, row.driver) {
				if record.Success {
					levels[record.Level]++
					passed[row.name]++
				}
				var transcript rollout.Transcript
				if err := json.Unmarshal(record.Transcript, &transcript); err != nil {
					t.Fatal(err)
				}
				if transcript.Trajectory.Success {
					right++
				}
			}
			table += fmt.Sprintf("| %s | %v | %d | %d | %d | %d | %d |\n", row.name, temperature, levels["0"], levels["1"], levels["2"], passed[row.name], right)
		}
		for _, row := range rows[1:3] { // what a seed draws may hang on the processor, what is greedy does not
			if chat := passed[rows[0].name]; temperature == 0 && (passed[row.name] < chat || chat == 0) {
				t.Errorf("%s solves %d, the chat route %d", row.name, passed[row.name], chat)
			}
		}
	}
	t.Logf("\n%s", table)
}

type contestant struct {
	name   string
	driver eval.Driver
}

// contestants are the rows of the table: the chat route, our agent in two ways,
// and langchaingo's agent on our model and on its own.
func contestants(t *testing.T, url string, temperature float64) []contestant {
	t.Helper()
	web := client(t)
	ours, err := plugin.NewModel(plugin.ModelConfig{URL: url, Name: ollamatest.Tools, NumCtx: 2048, HTTP: web,
		Options: map[string]any{"num_predict": 64, "temperature": temperature}})
	if err != nil {
		t.Fatal(err)
	}
	stock, err := ollama.New(ollama.WithServerURL(url), ollama.WithModel(ollamatest.Tools), ollama.WithHTTPClient(web), ollama.WithRunnerNumCtx(2048))
	if err != nil {
		t.Fatal(err)
	}
	chat := rollout.Config{URL: url, Model: ollamatest.Tools, NumCtx: 2048, NumPredict: 64, Temperature: &temperature, HTTP: web}
	return []contestant{
		{"toolgym's chat route (`toolgym eval`)", rollout.Chat{Config: chat.WithDefaults()}},
		{"our agent, `Play`", plugin.Driver{New: func(seed int, r *plugin.Recorder) (tools.Agent, error) {
			return plugin.NewAgent(plugin.AgentConfig{Model: ours, Callbacks: r, Options: []llms.CallOption{llms.WithSeed(seed)}})
		}}},
		{"our agent in langchaingo's executor", inExecutor(temperature, func(offered []lctools.Tool, r *plugin.Recorder) (agents.Agent, error) {
			return plugin.NewAgent(plugin.AgentConfig{Model: ours, Tools: offered, Callbacks: r})
		})},
		{"langchaingo's functions agent on our model", inExecutor(temperature, func(offered []lctools.Tool, r *plugin.Recorder) (agents.Agent, error) {
			return agents.NewOpenAIFunctionsAgent(ours, plugin.Guard(offered, plugin.ToolLimits{}, r)), nil
		})},
		{"langchaingo's functions agent on its Ollama model", inExecutor(temperature, func(offered []lctools.Tool, r *plugin.Recorder) (agents.Agent, error) {
			return agents.NewOpenAIFunctionsAgent(stock, plugin.Guard(offered, plugin.ToolLimits{}, r)), nil
		})},
	}
}

// driven plays the items once each by a driver, as toolgym eval does.
func driven(t *testing.T, items []eval.Item, driver eval.Driver) []eval.Record {
	t.Helper()
	kept := &memory{}
	runner := eval.Runner{Run: eval.Run{Name: "beside", Model: ollamatest.Tools, Routes: []string{"r"}, Trials: 1, Seed: 1},
		Items: items, Scorer: scorer(t), Ledger: kept, Now: clock, Retry: eval.Retry{Attempts: 1},
		Servers: []eval.Server{{Address: "a", Concurrency: 1, Drivers: map[string]eval.Driver{"r": driver}}}}
	for _, item := range items {
		planned, err := item.RunTask()
		if err != nil {
			t.Fatal(err)
		}
		runner.Run.Tasks = append(runner.Run.Tasks, planned)
	}
	if err := runner.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	return kept.records
}

// inExecutor plays by an executor of langchaingo.
func inExecutor(temperature float64, build func([]lctools.Tool, *plugin.Recorder) (agents.Agent, error)) eval.Driver {
	return plugin.Driver{New: func(seed int, r *plugin.Recorder) (tools.Agent, error) {
		return playing(func(ctx context.Context, task tools.Task, caller tools.Caller) error {
			offered, err := plugin.EpisodeTools(caller)
			if err != nil {
				return err
			}
			agent, err := build(offered, r)
			if err != nil {
				return err
			}
			executor := agents.NewExecutor(agent, agents.WithMaxIterations(32), agents.WithCallbacksHandler(r))
			_, err = chains.Run(ctx, executor, task.Prompt[0].Content, chains.WithSeed(seed), chains.WithTemperature(temperature))
			return err
		}), nil
	}}
}

// playing is an agent made of a function.
type playing func(context.Context, tools.Task, tools.Caller) error

func (p playing) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	return p(ctx, task, caller)
}

// memory is a ledger that keeps records for a test.
type memory struct{ records []eval.Record }

func (m *memory) Keep(_ context.Context, record eval.Record) error {
	m.records = append(m.records, record)
	return nil
}

func clock() time.Time { return time.Unix(0, 0) }

// The tests of this file prove what README.md says of langchaingo v0.1.14. When
// one fails after an update, langchaingo has mended something, and this package
// may become simpler.

// stockModel is langchaingo's Ollama model on a server that answers with the
// lines; it also returns where the last request is kept.
func stockModel(t *testing.T, lines ...string) (*ollama.LLM, *string) {
	t.Helper()
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body = string(text)
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
	}))
	t.Cleanup(server.Close)
	model, err := ollama.New(ollama.WithServerURL(server.URL), ollama.WithModel("m"), ollama.WithHTTPClient(client(t)))
	if err != nil {
		t.Fatal(err)
	}
	return model, &body
}

func TestStockModelDropsTools(t *testing.T) {
	model, body := stockModel(t, `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{}}}]},"done":true}`)
	response, err := model.GenerateContent(t.Context(), human("go"), llms.WithTools(named()))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(*body, `"tools"`) || len(response.Choices[0].ToolCalls) > 0 {
		t.Errorf("sent %s, got %+v", *body, response.Choices[0])
	}
	result := llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{llms.ToolCallResponse{Content: "3"}}}
	if _, err := model.GenerateContent(t.Context(), []llms.MessageContent{result}); err == nil {
		t.Error("it takes tool results")
	}
}

func TestStockModelSendsWhatNobodySet(t *testing.T) {
	model, body := stockModel(t, `{"message":{"role":"assistant","content":"x"},"done":true}`)
	if _, err := model.GenerateContent(t.Context(), human("go")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(*body, `"temperature":0`) {
		t.Errorf("sent %s", *body)
	}
}

func TestStockModelTakesACutAnswerForAWholeOne(t *testing.T) {
	model, _ := stockModel(t, `{"message":{"role":"assistant","content":"half"},"done":false}`)
	response, err := model.GenerateContent(t.Context(), human("go"), llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	if err != nil || response.Choices[0].Content != "" {
		t.Errorf("got %+v, %v", response, err)
	}
}

func TestStockAgentSplitsParallelCalls(t *testing.T) {
	model := &script{lines: []llms.ContentChoice{says("Both.", `add{"a":1,"b":2}`, `ping{}`)}}
	agent := agents.NewOpenAIFunctionsAgent(model, listed(t, statelessTools()))
	if _, err := chains.Run(t.Context(), agents.NewExecutor(agent), "go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"system You are a helpful AI assistant.", "human go",
		`ai →add{"a":1,"b":2}`, `tool ={"result":3}`, `ai →ping{}`, `tool ={"result":1}`}
	if diff := cmp.Diff(want, transcript(model.asked[1])); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(model.with[0].Functions[0].Parameters); !strings.Contains(got, "__arg1") {
		t.Errorf("declared %s", got)
	}
}

func TestStockExecutorEndsAtAToolsError(t *testing.T) {
	model := &script{lines: []llms.ContentChoice{says("", `test_tool{"__arg1":"x"}`)}}
	var e callbackLog
	agent := agents.NewOpenAIFunctionsAgent(model, []lctools.Tool{testTool{"test_tool", fails}})
	_, err := chains.Run(t.Context(), agents.NewExecutor(agent, agents.WithCallbacksHandler(&e)), "go")
	if err == nil || errors.Is(err, agents.ErrNotFinished) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"start", "action test_tool", "error no network"}, e.heard); diff != "" {
		t.Error(diff)
	}
}
