package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/schema"
	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// AgentConfig is the configuration of an agent: its model, its tools, and its
// limits.
type AgentConfig struct {
	Model llms.Model // a [Model], or any other that takes llms.WithTools
	Tools []lctools.Tool

	// System is the system message; "" means none. If Prompt is set, it makes the
	// first messages of the conversation, and System is not used.
	System string
	Prompt prompts.FormatPrompter

	// Family is the format of calls in the text of the model; "" means auto. Calls
	// in the text are read only if the message has no structured calls.
	Family parse.Family

	Budget  Budget
	Limits  ToolLimits
	Options []llms.CallOption // of every request to the model, such as llms.WithSeed

	// Callbacks is called for tools, and in [Agent.Run] for actions and the final
	// answer as well, for which an executor calls its own handler. It may be nil.
	Callbacks callbacks.Handler
	// Clock returns the time; nil means time.Now.
	Clock func() time.Time
}

// Agent plans with the schemas of its tools: a tool with several parameters is
// called with all of them, with their types. The calls of one message stay
// together. A tool's error, a panic and a timeout are observations that the
// model can act on, and so are unknown tools and invalid arguments. A run ends
// with a final answer, an exhausted budget, the end of the episode, or a
// failure of a server or environment.
//
// It works in an executor of langchaingo (set as many iterations as the budget
// has turns: the executor's default is 5), alone by [Agent.Run], and as a
// [tools.Agent] by [Agent.Play]. It keeps no state between plans. Several runs
// may share an agent if they may share its tools.
type Agent struct {
	config  AgentConfig
	guarded []lctools.Tool
	offered []llms.Tool
	reader  *parse.Reader
	episode *episode // of Play; nil otherwise
}

var (
	_ agents.Agent = (*Agent)(nil)
	_ tools.Agent  = (*Agent)(nil)
)

// NewAgent makes an agent. Tools whose names are equal, or differ only in case,
// are an error, and so are schemas that do not compile.
func NewAgent(config AgentConfig) (*Agent, error) {
	if config.Model == nil {
		return nil, refusal.New("Model", "an llms.Model", "missing")
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	if config.Callbacks == nil {
		config.Callbacks = callbacks.SimpleHandler{}
	}
	config.Budget, config.Limits = config.Budget.withDefaults(), config.Limits.withDefaults()
	if err := config.Family.Validate(); err != nil {
		return nil, err
	}
	if err := checkNames(config.Tools); err != nil {
		return nil, err
	}
	a := &Agent{config: config, guarded: Guard(config.Tools, config.Limits, config.Callbacks)}
	var set tools.Set
	for _, t := range a.guarded {
		declared, err := tools.Declare(t.Name(), t.Description(), parametersOf(t))
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name(), err)
		}
		set = append(set, declared)
		a.offered = append(a.offered, llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: t.Name(), Description: t.Description(), Parameters: parametersOf(t),
		}})
	}
	a.reader = parse.NewReader(set)
	return a, nil
}

// GetInputKeys returns the inputs of a plan: "input", or the variables of the
// prompt.
func (a *Agent) GetInputKeys() []string {
	if a.config.Prompt != nil {
		return a.config.Prompt.GetInputVariables()
	}
	return []string{"input"}
}

// GetOutputKeys returns the outputs of a finish: "output".
func (a *Agent) GetOutputKeys() []string { return []string{outputKey} }

// GetTools returns the tools, wrapped by [Guard].
func (a *Agent) GetTools() []lctools.Tool { return a.guarded }

const outputKey = "output"

// initialMessages returns the conversation before the model's first message.
func (a *Agent) initialMessages(inputs map[string]string) ([]llms.MessageContent, error) {
	if a.config.Prompt == nil {
		return a.withSystem(llms.TextParts(llms.ChatMessageTypeHuman, inputs["input"])), nil
	}
	values := make(map[string]any, len(inputs))
	for key, value := range inputs {
		values[key] = value
	}
	prompt, err := a.config.Prompt.FormatPrompt(values)
	if err != nil {
		return nil, fmt.Errorf("formatting the prompt: %w", err)
	}
	var messages []llms.MessageContent
	for _, m := range prompt.Messages() {
		messages = append(messages, llms.TextParts(m.GetType(), m.GetContent()))
	}
	return messages, nil
}

// withSystem prepends the system message, if there is one.
func (a *Agent) withSystem(messages ...llms.MessageContent) []llms.MessageContent {
	if a.config.System == "" {
		return messages
	}
	return append([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, a.config.System)}, messages...)
}

// lookup finds a tool by its exact name.
func (a *Agent) lookup(name string) (lctools.Tool, bool) {
	for _, t := range a.guarded {
		if t.Name() == name {
			return t, true
		}
	}
	return nil, false
}

// unknown returns the error message for a call of an unknown tool, which lists
// the known names, or "" for a known tool. In an episode it always returns "":
// the environment answers such a call, which costs a step there.
func (a *Agent) unknown(name string) string {
	if _, ok := a.lookup(name); ok || a.episode != nil {
		return ""
	}
	names := make([]string, len(a.guarded))
	for i, t := range a.guarded {
		names[i] = t.Name()
	}
	return fmt.Sprintf("unknown tool %q; the tools are %s", clip(name, 80), strings.Join(names, ", "))
}

// withEpisode returns a copy of the agent that has the tools of an episode.
func (a *Agent) withEpisode(ctx context.Context, caller tools.Caller) (*Agent, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &episode{caller: caller}
	config := a.config
	var err error
	if config.Tools, err = e.tools(); err != nil {
		return nil, err
	}
	player, err := NewAgent(config)
	if err != nil {
		return nil, err
	}
	player.episode = e
	return player, nil
}

// Budget limits a run.
type Budget struct {
	Turns  int           // messages of the model; 0 means 32
	Tokens int           // generated, as reported by the server; 0 means unlimited
	Time   time.Duration // since the first plan of the run; 0 means unlimited
}

// ErrBudget is within the error of a run that has used up its budget.
var ErrBudget = errors.New("the budget of the run is exhausted")

func (b Budget) withDefaults() Budget {
	if b.Turns == 0 {
		b.Turns = 32
	}
	return b
}

// check returns an [ErrBudget] if a run has reached a limit. Every turn records
// its cost, so the agent keeps no sums.
func (b Budget) check(past []pastTurn, now time.Time) error {
	tokens, made := 0, 0
	for _, p := range past {
		tokens += p.Tokens
		if p.Number > 0 {
			made++
		}
	}
	switch {
	case made >= b.Turns:
		return fmt.Errorf("%w: %d turns of %d", ErrBudget, made, b.Turns)
	case b.Tokens > 0 && tokens >= b.Tokens:
		return fmt.Errorf("%w: %d tokens of %d", ErrBudget, tokens, b.Tokens)
	case b.Time > 0 && now.Sub(startTime(past, now)) >= b.Time:
		return fmt.Errorf("%w: %s of %s", ErrBudget, now.Sub(startTime(past, now)).Round(time.Millisecond), b.Time)
	}
	return nil
}

// startTime returns when the run began: now, if it has no turns yet.
func startTime(past []pastTurn, now time.Time) time.Time {
	for _, p := range past {
		if p.Number > 0 {
			return p.Began
		}
	}
	return now
}

// Plan asks the model for the next step: calls or a final answer. The options
// override those of the configuration. An empty message is an
// agents.ErrUnableToParseOutput, which an executor's error handler can turn
// into an observation. An exhausted budget is an [ErrBudget].
func (a *Agent) Plan(ctx context.Context, steps []schema.AgentStep, inputs map[string]string, options ...chains.ChainCallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	opening, err := a.initialMessages(inputs)
	if err != nil {
		return nil, nil, err
	}
	return a.plan(ctx, opening, turnsOf(steps), chains.GetLLMCallOptions(options...))
}

func (a *Agent) plan(ctx context.Context, opening []llms.MessageContent, past []pastTurn, options []llms.CallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	if episodeDone(a.guarded) {
		return nil, finish(lastObservation(past), episodeOver), nil
	}
	now := a.config.Clock()
	if err := a.config.Budget.check(past, now); err != nil {
		return nil, nil, err
	}
	conversation := opening
	for _, p := range past {
		conversation = append(slices.Clip(conversation), p.messages()...)
	}
	next := turn{Number: lastNumber(past) + 1, Began: startTime(past, now)}
	var output string
	choice, err := a.ask(ctx, conversation, options, a.timeLeft(past, now))
	if err == nil {
		output, err = a.readChoice(ctx, choice, &next)
	} else {
		err = a.callInError(ctx, err, &next)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case len(next.Calls) > 0:
		actions, err := next.actions()
		return actions, nil, err
	}
	return nil, finish(output, next.Content), nil
}

// ask sends the conversation to the model. The request is cancelled when the
// time of the budget is over.
func (a *Agent) ask(ctx context.Context, conversation []llms.MessageContent, options []llms.CallOption, left time.Duration) (*llms.ContentChoice, error) {
	all := append(append(slices.Clone(a.config.Options), options...), a.restoreStreaming())
	if len(a.offered) > 0 {
		all = append(all, llms.WithTools(a.offered))
	}
	bounded := ctx
	if left > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeoutCause(ctx, left, ErrBudget)
		defer cancel()
	}
	response, err := a.config.Model.GenerateContent(bounded, conversation, all...)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(context.Cause(bounded), ErrBudget):
		return nil, fmt.Errorf("%w: %s, during a reply", ErrBudget, a.config.Budget.Time)
	case err != nil:
		return nil, fmt.Errorf("asking the model: %w", err)
	case response == nil || len(response.Choices) == 0 || response.Choices[0] == nil:
		return nil, fmt.Errorf("%w: the reply has no choice", agents.ErrUnableToParseOutput)
	}
	return response.Choices[0], nil
}

// restoreStreaming sets the agent's own streaming function again if the options
// of a chain have removed it: they set the field whether or not they have a
// function.
func (a *Agent) restoreStreaming() llms.CallOption {
	own := applyOptions(a.config.Options).StreamingFunc
	return func(o *llms.CallOptions) {
		if o.StreamingFunc == nil {
			o.StreamingFunc = own
		}
	}
}

// timeLeft returns the rest of the budget's time; 0 means unlimited.
func (a *Agent) timeLeft(past []pastTurn, now time.Time) time.Duration {
	if a.config.Budget.Time == 0 {
		return 0
	}
	return a.config.Budget.Time - now.Sub(startTime(past, now))
}

// episodeOver is the log of a finish that is not the model's word.
const episodeOver = "the episode is over"

func finish(output, log string) *schema.AgentFinish {
	return &schema.AgentFinish{ReturnValues: map[string]any{outputKey: output}, Log: log}
}

func lastObservation(past []pastTurn) string {
	if len(past) == 0 {
		return ""
	}
	seen := past[len(past)-1].observations
	return seen[len(seen)-1]
}

// lastNumber returns the number of the last turn; 0 without one.
func lastNumber(past []pastTurn) int {
	last := 0
	for _, p := range past {
		last = max(last, p.Number)
	}
	return last
}
