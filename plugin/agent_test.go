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

	"toolgym/plugin"
	"toolgym/tools"
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
				agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, workshop())})
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
			tool := wild{"wild", func(context.Context, string) (string, error) { called++; return "", nil }}
			model := &script{lines: []llms.ContentChoice{says("", `WILD{"input":""}`, `Wild{"input":""}`)}}
			if _, err := run(t.Context(), agentOf(t, plugin.AgentConfig{Model: model, Tools: []lctools.Tool{tool}}), "go"); err != nil || called != 0 {
				t.Errorf("called %d times, %v", called, err)
			}
		})
	}
}

func TestAgentAnswersForBadTools(t *testing.T) {
	tests := []struct {
		name string
		do   func(context.Context, string) (string, error)
		want string
	}{
		{"fails", fails, `{"error":"no network"}`},
		{"panics", panics, "panicked"},
		{"hangs", hangs, "took too long"},
		{"says ten megabytes", large, "(cut: 65536 of 10485760 bytes)"},
		{"gets its string", echo, "tool wild=hello"},
	}
	for _, test := range tests {
		for way, run := range runners() {
			t.Run(test.name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &script{lines: []llms.ContentChoice{says("", `wild{"input":"hello"}`)}}
					agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: []lctools.Tool{wild{"wild", test.do}}})
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
		{"at an empty message", &script{lines: []llms.ContentChoice{again, says(" \n")}}, plugin.Budget{}, agents.ErrUnableToParseOutput, "message is empty", 2},
		{"at a failing model", &script{lines: loop, fails: map[int]error{1: errDead}}, plugin.Budget{}, errDead, "asking the model", 2},
	}
	for _, test := range tests {
		for way, run := range runners() {
			t.Run(test.name+" "+way, func(t *testing.T) {
				noLeak(t)
				model := &script{lines: test.model.lines, fails: test.model.fails}
				agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, workshop()), Budget: test.budget})
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

func TestAgentKeepsItsTime(t *testing.T) {
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
					agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, workshop()), Budget: plugin.Budget{Time: test.budget}})
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
				agent := agentOf(t, plugin.AgentConfig{Model: &slow{}, Tools: listed(t, workshop())})
				if _, err := run(ctx, agent, "go"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, plugin.ErrBudget) {
					t.Errorf("got %v", err)
				}
			})
		})
		t.Run("in a tool "+way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				model := &script{lines: []llms.ContentChoice{says("", `wild{"input":""}`)}}
				agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: []lctools.Tool{wild{"wild", hangs}}})
				if _, err := run(ctx, agent, "go"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestAgentLetsAnErrorHandlerAnswer: an executor's error handler turns an
// empty message into an observation, which the model is shown.
func TestAgentLetsAnErrorHandlerAnswer(t *testing.T) {
	model := &script{lines: []llms.ContentChoice{says("", `ping{}`), says(""), says("", `ping{}`)}}
	executor := agents.NewExecutor(agentOf(t, plugin.AgentConfig{Model: model, Tools: listed(t, workshop())}),
		agents.WithParserErrorHandler(agents.NewParserErrorHandler(func(string) string { return "Say something." })))
	if _, err := chains.Run(t.Context(), executor, "go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"human go", `ai →ping{}`, `tool ping={"result":1}`, "human Say something.", `ai →ping{}`, `tool ping={"result":1}`}
	if diff := cmp.Diff(want, transcript(model.asked[3])); diff != "" {
		t.Error(diff)
	}
}

func TestAgentTellsItsCallbacks(t *testing.T) {
	model := &script{lines: []llms.ContentChoice{says("", `divide{"a":1,"b":0}`, `nothing{}`, `wild{"input":"x"}`)}}
	var e ear
	agent := agentOf(t, plugin.AgentConfig{Model: model, Tools: append(listed(t, workshop()), wild{"wild", fails}), Callbacks: &e})
	if _, err := agent.Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"start", "action divide", `tool start {"a":1,"b":0}`, `tool end {"error":"division by zero"}`, "action nothing (no call)",
		"action wild", `tool start {"input":"x"}`, "tool error no network", "finish done", "end"}
	if diff := cmp.Diff(want, e.heard); diff != "" {
		t.Error(diff)
	}
}

func TestAgentBeginsWithItsPrompt(t *testing.T) {
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

// TestAgentKeepsItsStreamingFunction: the options of a chain hold one, a nil one
// where nobody set it.
func TestAgentKeepsItsStreamingFunction(t *testing.T) {
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
	add := listed(t, workshop())[0]
	for name, config := range map[string]plugin.AgentConfig{
		"no model":                  {},
		"tools of the same name":    {Model: &script{}, Tools: []lctools.Tool{add, add}},
		"names that differ in case": {Model: &script{}, Tools: []lctools.Tool{add, wild{"Add", echo}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plugin.NewAgent(config)
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAgentUnderstandsForeignSteps: steps of another agent, as from a stored
// history, are shown as what was observed.
func TestAgentUnderstandsForeignSteps(t *testing.T) {
	model := &script{}
	steps := []schema.AgentStep{{Action: schema.AgentAction{Tool: "add", ToolInput: "1", Log: "Invoking: add"}, Observation: "3"}}
	if _, _, err := agentOf(t, plugin.AgentConfig{Model: model}).Plan(t.Context(), steps, map[string]string{"input": "go"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"human go", "human 3"}, transcript(model.asked[0])); diff != "" {
		t.Error(diff)
	}
}
