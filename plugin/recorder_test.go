package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/plugin"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// solution is a script that solves the task as the oracle does, one call a
// turn.
func solution(t *testing.T, spec tools.Spec, task tools.Task) []llms.ContentChoice {
	t.Helper()
	played, err := tools.Rollout(t.Context(), spec.New(), task, spec.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	var lines []llms.ContentChoice
	for _, step := range played.Steps {
		lines = append(lines, says("", step.Call.Name+string(step.Call.Arguments)))
	}
	return lines
}

// grade scores one recorded run.
func grade(t *testing.T, recorder *plugin.Recorder) grpo.Score {
	t.Helper()
	scorer, err := grpo.NewScorer(tools.Specs{arithmetic.Spec()}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	group, err := recorder.Group("g")
	if err != nil {
		t.Fatal(err)
	}
	response, err := scorer.Score(t.Context(), grpo.Request{Groups: []grpo.Group{group}})
	if err != nil {
		t.Fatal(err)
	}
	return response.Groups[0].Completions[0]
}

// record plays a task with a recorder, alone or in an executor.
func record(t *testing.T, executor bool) (*plugin.Recorder, tools.Env) {
	t.Helper()
	spec := arithmetic.Spec()
	task, err := spec.Task("", "2", 3)
	if err != nil {
		t.Fatal(err)
	}
	env := spec.New()
	if _, err := env.Reset(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	recorder := &plugin.Recorder{Task: task, Tools: env.Tools()}
	offered, err := plugin.EpisodeTools(recorder.Watch(env))
	if err != nil {
		t.Fatal(err)
	}
	lines := append([]llms.ContentChoice{says("Let me see.", `nothing{}`)}, solution(t, spec, task)...)
	agent := agentOf(t, plugin.AgentConfig{Model: &script{lines: lines}, Tools: offered, Callbacks: recorder})
	if executor {
		_, err = chains.Run(t.Context(), agents.NewExecutor(agent, agents.WithMaxIterations(32), agents.WithCallbacksHandler(recorder)), task.Prompt[0].Content)
	} else {
		_, err = agent.Run(t.Context(), task.Prompt[0].Content)
	}
	if err != nil {
		t.Fatal(err)
	}
	return recorder, env
}

func TestRecorderOfOurAgent(t *testing.T) {
	lines := map[bool]string{}
	for name, executor := range map[string]bool{"alone": false, "in an executor": true} {
		t.Run(name, func(t *testing.T) {
			recorder, env := record(t, executor)
			trajectory := recorder.Trajectory()
			if !trajectory.Success || !trajectory.Terminated || trajectory.Return != 1 || !env.Success() {
				t.Errorf("trajectory %+v", trajectory)
			}
			score := grade(t, recorder)
			turns := float64(len(trajectory.Steps) + 1) // the environment never saw the unknown tool
			calls := turns
			if want := 1 + 1.5*(calls-1)/calls + 3 - 0.05*turns; !score.Success || score.Reward == nil || *score.Reward != want {
				t.Errorf("success %v, reward %v, want %v; %v", score.Success, deref(score.Reward), want, score.Defects)
			}
			line, err := recorder.Line("g")
			if err != nil {
				t.Fatal(err)
			}
			lines[executor] = string(line)
		})
	}
	if diff := cmp.Diff(lines[false], lines[true]); diff != "" {
		t.Errorf("the ways to run differ:\n%s", diff)
	}
}

func deref(f *float64) any {
	if f == nil {
		return nil
	}
	return *f
}

// TestRecorderLinesAreScored pipes lines into what "toolgym score" runs.
// A recorder that was given to nobody, or before the run, has no line: an empty
// one would be graded as a model that said nothing.
func TestRecorderWithoutMessages(t *testing.T) {
	line, err := (&plugin.Recorder{}).Line("g")
	if e, ok := errors.AsType[*tools.Error](err); !ok || e.Code != tools.Conflict || !strings.Contains(e.Want, "AgentConfig.Callbacks") {
		t.Errorf("%s, %v", line, err)
	}
}

func TestRecorderLinesAreScored(t *testing.T) {
	recorder, _ := record(t, false)
	line, err := recorder.Line("g1")
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := grpo.NewScorer(tools.Specs{arithmetic.Spec()}, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	in := bytes.NewReader(bytes.Join([][]byte{line, line}, []byte("\n")))
	if _, err := scorer.Stream(t.Context(), in, &out, grpo.StreamOptions{TempDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(out.String()) {
		var got struct {
			Group   string
			Success bool
			Failure any
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Group != "g1" || !got.Success || got.Failure != nil {
			t.Errorf("got %s, %v", text, err)
		}
	}
}

func TestRecorderSample(t *testing.T) {
	recorder, _ := record(t, false)
	score := grade(t, recorder)
	sample, err := recorder.Sample(&score)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"role":"user","content":"` + recorder.Task.Prompt[0].Content + `"}`,
		`{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"call_1_1","type":"function","function":{"name":"nothing","arguments":{}}}]}`,
	}
	for i := range want {
		if got := string(sample.Messages[i]); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	if sample.TaskID != "arithmetic/2/3" || len(sample.Tools) != 8 || sample.Reward == nil {
		t.Errorf("task %s, %d tools, reward %v", sample.TaskID, len(sample.Tools), sample.Reward)
	}
}

// TestRecorderOfAStockAgent: langchaingo's text agent with its calculator. What
// tells the results differs; the trajectory must not.
func TestRecorderOfAStockAgent(t *testing.T) {
	adopted, err := plugin.FromLangchain(lctools.Calculator{}, plugin.ToolLimits{})
	if err != nil {
		t.Fatal(err)
	}
	stock := []lctools.Tool{lctools.Calculator{}}
	tests := []struct {
		name    string
		guard   bool
		options []agents.Option
		result  string
	}{
		{"that tells results by its tools", true, nil, `{"result":"14"}`},
		{"that returns its steps", false, []agents.Option{agents.WithReturnIntermediateSteps()}, `{"result":"14"}`},
		{"that tells nothing", false, nil, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			recorder := &plugin.Recorder{Tools: tools.Set{adopted}, Expected: &match.Expected{
				Calls: []match.Call{{Name: "calculator", Arguments: json.RawMessage(`{"input":"2*(3+4)"}`)}}}}
			offered := stock
			if test.guard {
				offered = plugin.Guard(stock, plugin.ToolLimits{}, recorder)
			}
			model := &telling{script{lines: []llms.ContentChoice{
				says("I need it.\nAction: calculator\nAction Input: 2*(3+4)"), says("I know.\nFinal Answer: 14")}}, recorder}
			options := append(slices.Clip(test.options), agents.WithCallbacksHandler(recorder), agents.WithMaxIterations(5))
			executor := agents.NewExecutor(agents.NewOneShotAgent(model, offered, agents.WithMaxIterations(5)), options...)
			if _, err := chains.Call(t.Context(), executor, map[string]any{"input": "What is 2*(3+4)?"}); err != nil {
				t.Fatal(err)
			}
			call := tools.Call{Name: "calculator", Arguments: json.RawMessage(`{"input":"2*(3+4)"}`)}
			result := tools.Result{Content: json.RawMessage(test.result)}
			if test.result == "" {
				result.Content = nil
			}
			want := []tools.Step{tools.Transition(call, result, 0),
				tools.Termination(tools.Call{}, tools.Result{}, 0).Spoken("I know.\nFinal Answer: 14")}
			trajectory := recorder.Trajectory()
			if diff := cmp.Diff(want, trajectory.Steps); diff != "" || !trajectory.Terminated {
				t.Errorf("terminated %v\n%s", trajectory.Terminated, diff)
			}
			if score := grade(t, recorder); !score.Success {
				t.Errorf("score %+v", score)
			}
		})
	}
}

// telling is a script that fires the callbacks of a model.
type telling struct {
	script
	handler callbacks.Handler
}

func (s *telling) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	s.handler.HandleLLMGenerateContentStart(ctx, messages)
	response, err := s.script.GenerateContent(ctx, messages, options...)
	if err == nil {
		s.handler.HandleLLMGenerateContentEnd(ctx, response)
	}
	return response, err
}

func (s *telling) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}

// TestRecorderOfAStockFunctionsAgent: results are known from the next question
// to the model.
func TestRecorderOfAStockFunctionsAgent(t *testing.T) {
	recorder := &plugin.Recorder{}
	model := &telling{script{lines: []llms.ContentChoice{says("", `calculator{"__arg1":"1+1"}`), says("It is 2.")}}, recorder}
	model.lines[0].ToolCalls[0].ID = "own"
	agent := agents.NewOpenAIFunctionsAgent(model, []lctools.Tool{lctools.Calculator{}})
	if _, err := chains.Run(t.Context(), agents.NewExecutor(agent, agents.WithCallbacksHandler(recorder)), "What is 1+1?"); err != nil {
		t.Fatal(err)
	}
	want := []tools.Step{
		tools.Transition(tools.Call{ID: "own", Name: "calculator", Arguments: json.RawMessage(`{"__arg1":"1+1"}`)}, tools.Result{Content: json.RawMessage(`{"result":"2"}`)}, 0),
		tools.Termination(tools.Call{}, tools.Result{}, 0).Spoken("It is 2."),
	}
	if diff := cmp.Diff(want, recorder.Trajectory().Steps); diff != "" {
		t.Error(diff)
	}
}
