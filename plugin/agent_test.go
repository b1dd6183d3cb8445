package plugin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/schema"
	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/grpo/parse"
	"toolgym/internal/ollamatest"
	"toolgym/plugin"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

// runners are the two ways to run an agent on an input.
func runners() map[string]func(context.Context, *plugin.Agent, string) (string, error) {
	return map[string]func(context.Context, *plugin.Agent, string) (string, error){
		"alone": func(ctx context.Context, a *plugin.Agent, input string) (string, error) {
			outcome, err := a.Run(ctx, input)
			return outcome.Output, err
		},
		"in an executor": func(ctx context.Context, a *plugin.Agent, input string) (string, error) {
			return chains.Run(ctx, agents.NewExecutor(a, agents.WithMaxIterations(100)), input)
		},
	}
}

func agentOf(t *testing.T, config plugin.AgentConfig) *plugin.Agent {
	t.Helper()
	agent, err := plugin.NewAgent(config)
	if err != nil {
		t.Fatal(err)
	}
	return agent
}

func listed(t *testing.T, set tools.Set) []lctools.Tool {
	t.Helper()
	list, err := plugin.Tools(set)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAgentConverses checks what the model is shown last: the whole run.
func TestAgentConverses(t *testing.T) {
	unknown := `; the tools are add, divide, measure, ping"}`
	tests := []struct {
		name  string
		lines []llms.ContentChoice
		want  []string
	}{
		{"no call", nil, []string{"human go"}},
		{"typed arguments", []llms.ContentChoice{says("", `add{"a":1,"b":2}`)},
			[]string{"human go", `ai →add{"a":1,"b":2}`, `tool add={"result":3}`}},
		{"parallel calls stay together", []llms.ContentChoice{says("Both.", `add{"a":1,"b":2}`, `add{"a":1,"b":2}`, `ping{}`)},
			[]string{"human go", `ai Both. →add{"a":1,"b":2} →add{"a":1,"b":2} →ping{}`,
				`tool add={"result":3}`, `tool add={"result":3}`, `tool ping={"result":1}`}},
		{"the same call twice is two turns", []llms.ContentChoice{says("", `ping{}`), says("", `ping{}`)},
			[]string{"human go", `ai →ping{}`, `tool ping={"result":1}`, `ai →ping{}`, `tool ping={"result":1}`}},
		{"a mistake is an observation", []llms.ContentChoice{says("", `divide{"a":1,"b":0}`)},
			[]string{"human go", `ai →divide{"a":1,"b":0}`, `tool divide={"error":"division by zero"}`}},
		{"an unknown tool", []llms.ContentChoice{says("", `multiply{"a":1}`)},
			[]string{"human go", `ai →multiply{"a":1}`, `tool multiply={"error":"unknown tool \"multiply\"` + unknown}},
		{"a tool in other case", []llms.ContentChoice{says("", `ADD{"a":1,"b":2}`, `ping{}`)},
			[]string{"human go", `ai →ADD{"a":1,"b":2} →ping{}`, `tool ADD={"error":"unknown tool \"ADD\"` + unknown, `tool ping={"result":1}`}},
		{"arguments as a string", []llms.ContentChoice{says("", `add{raw:"{\"a\":1,\"b\":2}"`)},
			[]string{"human go", `ai →add"{\"a\":1,\"b\":2}"`, `tool add={"result":3}`}},
		{"arguments as null", []llms.ContentChoice{says("", `ping{raw:null`)},
			[]string{"human go", `ai →pingnull`, `tool ping={"result":1}`}},
		{"an unknown key", []llms.ContentChoice{says("", `ping{"x":1}`)},
			[]string{"human go", `ai →ping{"x":1}`, `tool ping={"error":"invalid arguments for ping: arguments: additional properties 'x' not allowed"}`}},
	}
	for _, test := range tests {
		for way, run := range runners() {
			t.Run(test.name+" "+way, func(t *testing.T) {
				noLeak(t)
				model := &script{lines: test.lines}
				agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, statelessTools())})
				output, err := run(t.Context(), agent, "go")
				if err != nil || output != "done" {
					t.Fatalf("got %q, %v", output, err)
				}
				if diff := cmp.Diff(test.want, transcript(model.asked[len(model.asked)-1])); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestAgentCallsExactNamesOnly: langchaingo's executor would call it.
func TestAgentCallsExactNamesOnly(t *testing.T) {
	for way, run := range runners() {
		t.Run(way, func(t *testing.T) {
			called := 0
			tool := testTool{"test_tool", func(context.Context, string) (string, error) { called++; return "", nil }}
			model := &script{lines: []llms.ContentChoice{says("", `WILD{"input":""}`, `Wild{"input":""}`)}}
			if _, err := run(t.Context(), agentOf(t, plugin.AgentConfig{Model: model, Tools: []lctools.Tool{tool}}), "go"); err != nil || called != 0 {
				t.Errorf("called %d times, %v", called, err)
			}
		})
	}
}

func TestAgentBadTools(t *testing.T) {
	tests := []struct {
		name string
		do   func(context.Context, string) (string, error)
		want string
	}{
		{"fails", fails, `{"error":"no network"}`},
		{"panics", panics, "panicked"},
		{"hangs", hangs, "took too long"},
		{"says ten megabytes", large, "(cut: 65536 of 10485760 bytes)"},
		{"gets its string", echo, "tool test_tool=hello"},
	}
	for _, test := range tests {
		for way, run := range runners() {
			t.Run(test.name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &script{lines: []llms.ContentChoice{says("", `test_tool{"input":"hello"}`)}}
					agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: []lctools.Tool{testTool{"test_tool", test.do}}})
					if _, err := run(t.Context(), agent, "go"); err != nil {
						t.Fatal(err)
					}
					lines := transcript(model.asked[1])
					if !strings.Contains(lines[2], test.want) {
						t.Errorf("got %.200s, want …%s…", lines[2], test.want)
					}
				})
			})
		}
	}
}

func TestAgentEnds(t *testing.T) {
	again := says("", `ping{}`)
	loop := []llms.ContentChoice{again, again, again, again, again, again}
	tests := []struct {
		name   string
		model  *script
		budget plugin.Budget
		want   error
		says   string
		asked  int
	}{
		{"at its turns", &script{lines: loop}, plugin.Budget{Turns: 3}, plugin.ErrBudget, "3 turns of 3", 3},
		{"at its tokens", &script{lines: loop}, plugin.Budget{Tokens: 15}, plugin.ErrBudget, "20 tokens of 15", 2},
		{"at an empty message", &script{lines: []llms.ContentChoice{again, says(" \n")}}, plugin.Budget{}, agents.ErrUnableToParseOutput, "empty message", 2},
		{"at a failing model", &script{lines: loop, fails: map[int]error{1: errDead}}, plugin.Budget{}, errDead, "asking the model", 2},
	}
	for _, test := range tests {
		for way, run := range runners() {
			t.Run(test.name+" "+way, func(t *testing.T) {
				noLeak(t)
				model := &script{lines: test.model.lines, fails: test.model.fails}
				agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, statelessTools()), Budget: test.budget})
				_, err := run(t.Context(), agent, "go")
				if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || len(model.asked) != test.asked {
					t.Errorf("after %d answers: %v", len(model.asked), err)
				}
			})
		}
	}
}

// slow is a model that needs a minute for an answer.
type slow struct{ script }

func (s *slow) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Minute):
		return s.script.GenerateContent(ctx, messages, options...)
	}
}

func TestAgentTimeBudget(t *testing.T) {
	tests := []struct {
		name   string
		budget time.Duration
		took   time.Duration
	}{
		{"between two answers", 2 * time.Minute, 2 * time.Minute},
		{"in the middle of an answer", 150 * time.Second, 150 * time.Second},
	}
	again := says("", `ping{}`)
	for _, test := range tests {
		for way, run := range runners() {
			t.Run(test.name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &slow{script{lines: []llms.ContentChoice{again, again, again, again}}}
					agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, statelessTools()), Budget: plugin.Budget{Time: test.budget}})
					began := time.Now()
					_, err := run(t.Context(), agent, "go")
					if !errors.Is(err, plugin.ErrBudget) || time.Since(began) != test.took {
						t.Errorf("after %s: %v", time.Since(began), err)
					}
				})
			})
		}
	}
}

func TestAgentIsCancelled(t *testing.T) {
	for way, run := range runners() {
		t.Run("in the model "+way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				agent := agentOf(t, plugin.AgentConfig{Model: &slow{}, Tools: listed(t, statelessTools())})
				if _, err := run(ctx, agent, "go"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, plugin.ErrBudget) {
					t.Errorf("got %v", err)
				}
			})
		})
		t.Run("in a tool "+way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				model := &script{lines: []llms.ContentChoice{says("", `test_tool{"input":""}`)}}
				agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: []lctools.Tool{testTool{"test_tool", hangs}}})
				if _, err := run(ctx, agent, "go"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestAgentErrorHandler: an executor's error handler turns an
// empty message into an observation, which the model is shown.
func TestAgentErrorHandler(t *testing.T) {
	model := &script{lines: []llms.ContentChoice{says("", `ping{}`), says(""), says("", `ping{}`)}}
	executor := agents.NewExecutor(agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, statelessTools())}),
		agents.WithParserErrorHandler(agents.NewParserErrorHandler(func(string) string { return "Say something." })))
	if _, err := chains.Run(t.Context(), executor, "go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"human go", `ai →ping{}`, `tool ping={"result":1}`, "human Say something.", `ai →ping{}`, `tool ping={"result":1}`}
	if diff := cmp.Diff(want, transcript(model.asked[3])); diff != "" {
		t.Error(diff)
	}
}

func TestAgentCallbacks(t *testing.T) {
	model := &script{lines: []llms.ContentChoice{says("", `divide{"a":1,"b":0}`, `nothing{}`, `test_tool{"input":"x"}`)}}
	var e callbackLog
	agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: append(listed(t, statelessTools()), testTool{"test_tool", fails}), Callbacks: &e})
	if _, err := agent.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"start", "action divide", `tool start {"a":1,"b":0}`, `tool end {"error":"division by zero"}`, "action nothing (no call)",
		"action test_tool", `tool start {"input":"x"}`, "tool error no network", "finish done", "end"}
	if diff := cmp.Diff(want, e.heard); diff != "" {
		t.Error(diff)
	}
}

func TestAgentPrompt(t *testing.T) {
	tests := []struct {
		name   string
		config plugin.AgentConfig
		inputs map[string]string
		keys   []string
		want   []string
	}{
		{"the input", plugin.AgentConfig{}, map[string]string{"input": "{{go}}"}, []string{"input"}, []string{"human {{go}}"}},
		{"a system message", plugin.AgentConfig{System: "Be brief."}, map[string]string{"input": "go"}, []string{"input"}, []string{"system Be brief.", "human go"}},
		{"a prompt", plugin.AgentConfig{Prompt: prompts.NewChatPromptTemplate([]prompts.MessageFormatter{
			prompts.NewHumanMessagePromptTemplate("Where is {{.city}}?", []string{"city"})})},
			map[string]string{"city": "Graz"}, []string{"city"}, []string{"human Where is Graz?"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			model := &script{}
			test.config.Model, test.config.Options = model, []llms.CallOption{llms.WithSeed(5), llms.WithTopK(1)}
			agent := agentOf(t, test.config)
			if _, _, err := agent.Plan(t.Context(), nil, test.inputs, chains.WithSeed(6)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.keys, agent.GetInputKeys()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.want, transcript(model.asked[0])); diff != "" {
				t.Error(diff)
			}
			if o := model.with[0]; o.Seed != 6 || o.TopK != 1 {
				t.Errorf("seed %d, top_k %d", o.Seed, o.TopK)
			}
		})
	}
}

// TestAgentStreamingFunction: the options of a chain hold one, a nil one
// where nobody set it.
func TestAgentStreamingFunction(t *testing.T) {
	heard := func(name string, names *[]string) func(context.Context, []byte) error {
		return func(context.Context, []byte) error { *names = append(*names, name); return nil }
	}
	var names []string
	model := &script{}
	agent := agentOf(t, plugin.AgentConfig{Model: model, Options: []llms.CallOption{llms.WithStreamingFunc(heard("agent", &names))}})
	for _, options := range [][]chains.ChainCallOption{nil, {chains.WithSeed(1)}, {chains.WithStreamingFunc(heard("chain", &names))}} {
		if _, _, err := agent.Plan(t.Context(), nil, map[string]string{"input": "go"}, options...); err != nil {
			t.Fatal(err)
		}
		if err := model.with[len(model.with)-1].StreamingFunc(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"agent", "agent", "chain"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestNewAgentRefuses(t *testing.T) {
	add := listed(t, statelessTools())[0]
	for name, config := range map[string]plugin.AgentConfig{
		"no model":                  {},
		"tools of the same name":    {Model: &script{}, Tools: []lctools.Tool{add, add}},
		"names that differ in case": {Model: &script{}, Tools: []lctools.Tool{add, testTool{"Add", echo}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plugin.NewAgent(config)
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAgentForeignSteps: steps of another agent, as from a stored
// history, are shown as what was observed.
func TestAgentForeignSteps(t *testing.T) {
	model := &script{}
	steps := []schema.AgentStep{{Action: schema.AgentAction{Tool: "add", ToolInput: "1", Log: "Invoking: add"}, Observation: "3"}}
	if _, _, err := agentOf(t, plugin.AgentConfig{Model: model}).Plan(t.Context(), steps, map[string]string{"input": "go"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"human go", "human 3"}, transcript(model.asked[0])); diff != "" {
		t.Error(diff)
	}
}

func TestAgentPlays(t *testing.T) {
	up := says("", `up{}`)
	tests := []struct {
		name  string
		lines []llms.ContentChoice
		turns int
		want  tools.Trajectory
	}{
		{"to the end, in one turn", []llms.ContentChoice{says("", `up{}`, `up{}`, `up{}`)}, 0, tools.Trajectory{Return: 1.5, Terminated: true, Success: true}},
		{"to the end, and is not asked again", []llms.ContentChoice{up, up, up, says("", `up{}`)}, 0, tools.Trajectory{Return: 1.5, Terminated: true, Success: true}},
		{"and gives up with a word", []llms.ContentChoice{up}, 0, tools.Trajectory{Return: 0.25}},
		{"until its budget is used up", []llms.ContentChoice{up, up, up}, 2, tools.Trajectory{Return: 0.5}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			agent := agentOf(t, plugin.AgentConfig{Model: &script{lines: test.lines}, Budget: plugin.Budget{Turns: test.turns}})
			task := tools.Task{ID: "counter/0/1", Prompt: []tools.Message{{Role: "user", Content: "Count to three."}}}
			got, err := tools.Rollout(t.Context(), &counter{}, task, agent)
			if err != nil {
				t.Fatal(err)
			}
			if last := got.Steps[len(got.Steps)-1]; !got.Success && test.turns == 0 && last.Message != "done" {
				t.Errorf("the last step is %+v", last)
			}
			test.want.Task, test.want.Steps, test.want.Observation = task, got.Steps, got.Observation
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAgentReportsADeadEnvironment(t *testing.T) {
	noLeak(t)
	agent := agentOf(t, plugin.AgentConfig{Model: &script{lines: []llms.ContentChoice{says("", `up{}`)}}})
	if _, err := tools.Rollout(t.Context(), &counter{dead: true}, tools.Task{}, agent); !errors.Is(err, errDead) {
		t.Errorf("got %v, want %v", err, errDead)
	}
}

// TestAgentReadsCallsWrittenAsText: a model whose server does not read its
// calls. The text stays as the model wrote it.
func TestAgentReadsCallsWrittenAsText(t *testing.T) {
	add := `<tool_call>` + "\n" + `{"name": "add", "arguments": {"a": 1, "b": 2}}` + "\n" + `</tool_call>`
	tests := []struct {
		name, text string
		family     parse.Family
		output     string
		want       []string // what the model is shown besides its own text
	}{
		{"a call", add, "", "done", []string{`tool add={"result":3}`}},
		{"two calls behind prose", "Both.\n" + add + "\n" + add, "", "done", []string{`tool add={"result":3}`, `tool add={"result":3}`}},
		{"a call of its own family", `[add(a=1, b=2)]`, parse.Pythonic, "done", []string{`tool add={"result":3}`}},
		{"a call that is cut off", `<tool_call>{"name": "add", "arguments": {"a": 1,`, "", "done", []string{"this call cannot be read: "}},
		{"an unknown tool", `<tool_call>{"name": "sum", "arguments": {}}</tool_call>`, "", "done", []string{`unknown tool \"sum\"`}},
		{"no call", "It is 3.", "", "It is 3.", nil},
		{"a call only in the reasoning", "<think>" + add + "</think>It is 3.", "", "It is 3.", nil},
	}
	for _, test := range tests {
		for way, run := range runners() {
			t.Run(test.name+" "+way, func(t *testing.T) {
				noLeak(t)
				model := &script{lines: []llms.ContentChoice{says(test.text)}}
				agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, statelessTools()), Family: test.family})
				output, err := run(t.Context(), agent, "go")
				if err != nil || output != test.output {
					t.Fatalf("got %q, %v", output, err)
				}
				if test.want == nil {
					return
				}
				lines := transcript(model.asked[1])
				if diff := cmp.Diff([]string{"human go", "ai " + test.text}, lines[:2]); diff != "" {
					t.Error(diff)
				}
				if len(lines) != 2+len(test.want) {
					t.Fatalf("got %q", lines)
				}
				for i, want := range test.want {
					if !strings.Contains(lines[2+i], want) {
						t.Errorf("got %s, want …%s…", lines[2+i], want)
					}
				}
			})
		}
	}
}

// TestAgentCallInServerError replays Ollama's answer to a call
// that is no JSON.
func TestAgentCallInServerError(t *testing.T) {
	tests := []struct {
		name, body, want string
		status           int
		fails            bool
	}{
		{"a quoted call", `{"error":"error parsing tool call: raw='{\"name\": \"add\", \"arguments\": {\"a\": 1', err=unexpected end of JSON input"}`,
			"this call cannot be read: error parsing tool call", 500, false},
		{"another error", `{"error":"llama runner process has terminated"}`, "", 500, true},
		{"our own mistake", `{"error":"json: cannot unmarshal {\"name\":\"add\"}"}`, "", 400, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			broken, _ := replay(t, test.status, test.body)
			_, failure := broken.GenerateContent(t.Context(), human("go"))
			model := &script{fails: map[int]error{0: failure}}
			_, err := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, statelessTools())}).Run(t.Context(), "go")
			if (err != nil) != test.fails {
				t.Fatal(err)
			}
			if test.fails {
				return
			}
			if lines := transcript(model.asked[1]); !strings.Contains(lines[len(lines)-1], test.want) {
				t.Errorf("got %q", lines)
			}
		})
	}
}

// TestAgentPlaysWithTheRealOllama: whole episodes, as tools.Rollout plays them.
func TestAgentPlaysWithTheRealOllama(t *testing.T) {
	server := ollamatest.Start(t)
	noLeak(t)
	tests := []struct {
		name, model, level string
		spec               tools.Spec
		success            bool
	}{
		{"a sum", ollamatest.Tools, "0", arithmetic.Spec(), true},
		{"a longer sum", ollamatest.Tools, "1", arithmetic.Spec(), true},
		{"a weaker model", ollamatest.Base, "1", arithmetic.Spec(), false},
		{"the grid", ollamatest.Tools, "0", gridworld.Spec(), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			task, err := test.spec.Task("", test.level, 7)
			if err != nil {
				t.Fatal(err)
			}
			agent := agentOf(t, plugin.AgentConfig{Model: ollamaModel(t, server, test.model)})
			played, err := tools.Rollout(t.Context(), test.spec.New(), task, agent)
			if err != nil {
				t.Fatal(err)
			}
			if played.Success != test.success || len(played.Steps) == 0 {
				t.Errorf("success %v after %d steps", played.Success, len(played.Steps))
			}
		})
	}
}

// TestExecutorWithTheRealOllama: the same through langchaingo's executor, on an
// environment that it is given as tools.
func TestExecutorWithTheRealOllama(t *testing.T) {
	server := ollamatest.Start(t)
	noLeak(t)
	spec := arithmetic.Spec()
	task, err := spec.Task("", "1", 7)
	if err != nil {
		t.Fatal(err)
	}
	env := spec.New()
	if _, err := env.Reset(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	offered, err := plugin.EpisodeTools(env)
	if err != nil {
		t.Fatal(err)
	}
	agent := agentOf(t, plugin.AgentConfig{Model: ollamaModel(t, server, ollamatest.Tools), Tools: offered})
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(32))
	output, err := chains.Run(t.Context(), executor, task.Prompt[0].Content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"accepted":true}`, output); diff != "" || !env.Success() {
		t.Errorf("success %v, output %s", env.Success(), output)
	}
}
