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

// AgentConfig says what an agent thinks with, what it may do and for how long.
type AgentConfig struct {
	Model llms.Model // a [Model], or any other that takes llms.WithTools
	Tools []lctools.Tool

	// System is the system message; "" means none. Prompt, where it is set,
	// makes the whole beginning of the conversation in place of System and
	// {{.input}}.
	System string
	Prompt prompts.FormatPrompter

	// Family is how the model writes calls where its server does not read them;
	// "" means auto. A text that holds calls is taken for them only when the
	// answer has no others.
	Family parse.Family

	Budget  Budget
	Limits  ToolLimits
	Options []llms.CallOption // of every question to the model, such as llms.WithSeed

	// Callbacks hears of tools, and in [Agent.Run] of actions and the finish as
	// well; langchaingo's executor tells those to its own handler. It may be nil.
	Callbacks callbacks.Handler
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
}

// Agent plans with the tools' own schemas: a tool with several parameters gets
// them all, with their types. The calls of one answer stay together. A tool's
// error, a panic and a time out are observations that the model may act on, as
// are an unknown tool and bad arguments; the run's end are a finish, a used-up
// budget, an ended episode, and a failure outside.
//
// It works in an executor of langchaingo (give that as many iterations as the
// budget has turns: its default is 5), alone by [Agent.Run], and as a
// [tools.Agent] by [Agent.Play]. It keeps nothing between plans, and many runs
// may share it as far as they may share its tools.
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

// NewAgent makes an agent. It refuses tools of the same name, in other case
// too, and schemas that do not compile.
func NewAgent(config AgentConfig) (*Agent, error) {
	if config.Model == nil {
		return nil, refusal.New("Model", "an llms.Model", "an agent without a model")
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	if config.Callbacks == nil {
		config.Callbacks = callbacks.SimpleHandler{}
	}
	config.Budget, config.Limits = config.Budget.filled(), config.Limits.filled()
	if err := config.Family.Validate(); err != nil {
		return nil, err
	}
	if err := distinct(config.Tools); err != nil {
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

// GetInputKeys names what a plan needs: "input", or what the prompt asks for.
func (a *Agent) GetInputKeys() []string {
	if a.config.Prompt != nil {
		return a.config.Prompt.GetInputVariables()
	}
	return []string{"input"}
}

// GetOutputKeys names what a finish returns: "output".
func (a *Agent) GetOutputKeys() []string { return []string{outputKey} }

// GetTools lists the tools, guarded as [Guard] does.
func (a *Agent) GetTools() []lctools.Tool { return a.guarded }

const outputKey = "output"

// beginning is the conversation before the first answer.
func (a *Agent) beginning(inputs map[string]string) ([]llms.MessageContent, error) {
	if a.config.Prompt == nil {
		return a.opening(llms.TextParts(llms.ChatMessageTypeHuman, inputs["input"])), nil
	}
	values := make(map[string]any, len(inputs))
	for key, value := range inputs {
		values[key] = value
	}
	prompt, err := a.config.Prompt.FormatPrompt(values)
	if err != nil {
		return nil, fmt.Errorf("writing the prompt: %w", err)
	}
	var messages []llms.MessageContent
	for _, m := range prompt.Messages() {
		messages = append(messages, llms.TextParts(m.GetType(), m.GetContent()))
	}
	return messages, nil
}

// opening puts the system message in front.
func (a *Agent) opening(messages ...llms.MessageContent) []llms.MessageContent {
	if a.config.System == "" {
		return messages
	}
	return append([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, a.config.System)}, messages...)
}

// lookup finds the tool of exactly that name.
func (a *Agent) lookup(name string) (lctools.Tool, bool) {
	for _, t := range a.guarded {
		if t.Name() == name {
			return t, true
		}
	}
	return nil, false
}

// unknown is the fault of a call of no tool; "" if there is one. It lists the
// names there are. An episode that is played is asked itself: such a call spends
// a step there.
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

// with is the same agent with other tools.
func (a *Agent) with(ctx context.Context, caller tools.Caller) (*Agent, error) {
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

// Budget bounds a run.
type Budget struct {
	Turns  int           // answers of the model; 0 means 32
	Tokens int           // generated by the model, as it reports them; 0 means no bound
	Time   time.Duration // since the run's first plan; 0 means no bound
}

// ErrBudget is within the error of a run that has used up its budget.
var ErrBudget = errors.New("the budget of the run is used up")

func (b Budget) filled() Budget {
	if b.Turns == 0 {
		b.Turns = 32
	}
	return b
}

// spent reports the bound that a run has reached. Every turn carries what it
// cost, so that the sum needs no memory.
func (b Budget) spent(past []played, now time.Time) error {
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
	case b.Time > 0 && now.Sub(began(past, now)) >= b.Time:
		return fmt.Errorf("%w: %s of %s", ErrBudget, now.Sub(began(past, now)).Round(time.Millisecond), b.Time)
	}
	return nil
}

// began is when the run began: now, if it has no turn yet.
func began(past []played, now time.Time) time.Time {
	for _, p := range past {
		if p.Number > 0 {
			return p.Began
		}
	}
	return now
}

// Plan asks the model what to do next: some calls, or a finish. What the
// options set wins over the agent's own options. An empty answer is an
// agents.ErrUnableToParseOutput, which an executor's error handler may turn
// into an observation; a used-up budget is an [ErrBudget].
func (a *Agent) Plan(ctx context.Context, steps []schema.AgentStep, inputs map[string]string, options ...chains.ChainCallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	opening, err := a.beginning(inputs)
	if err != nil {
		return nil, nil, err
	}
	return a.plan(ctx, opening, turns(steps), chains.GetLLMCallOptions(options...))
}

func (a *Agent) plan(ctx context.Context, opening []llms.MessageContent, past []played, options []llms.CallOption) ([]schema.AgentAction, *schema.AgentFinish, error) {
	if over(a.guarded) {
		return nil, finish(lastObservation(past), episodeOver), nil
	}
	now := a.config.Clock()
	if err := a.config.Budget.spent(past, now); err != nil {
		return nil, nil, err
	}
	conversation := opening
	for _, p := range past {
		conversation = append(slices.Clip(conversation), p.messages()...)
	}
	next := turn{Number: number(past) + 1, Began: began(past, now)}
	var output string
	choice, err := a.ask(ctx, conversation, options, a.left(past, now))
	if err == nil {
		output, err = a.read(choice, &next)
	} else {
		err = a.quoted(err, &next)
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

// ask puts the conversation to the model, for as long as the budget lasts.
func (a *Agent) ask(ctx context.Context, conversation []llms.MessageContent, options []llms.CallOption, left time.Duration) (*llms.ContentChoice, error) {
	all := append(append(slices.Clone(a.config.Options), options...), a.streaming())
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
		return nil, fmt.Errorf("%w: %s, in the middle of an answer", ErrBudget, a.config.Budget.Time)
	case err != nil:
		return nil, fmt.Errorf("asking the model: %w", err)
	case response == nil || len(response.Choices) == 0 || response.Choices[0] == nil:
		return nil, fmt.Errorf("%w: the model gave no choice", agents.ErrUnableToParseOutput)
	}
	return response.Choices[0], nil
}

// streaming gives the agent's own streaming function back, where the options of
// a chain have taken it away: they set one whether or not they have one.
func (a *Agent) streaming() llms.CallOption {
	own := applied(a.config.Options).StreamingFunc
	return func(o *llms.CallOptions) {
		if o.StreamingFunc == nil {
			o.StreamingFunc = own
		}
	}
}

// left is what the budget leaves of its time; 0 means that it has no bound.
func (a *Agent) left(past []played, now time.Time) time.Duration {
	if a.config.Budget.Time == 0 {
		return 0
	}
	return a.config.Budget.Time - now.Sub(began(past, now))
}

// episodeOver is the log of a finish that is not the model's word.
const episodeOver = "the episode is over"

func finish(output, log string) *schema.AgentFinish {
	return &schema.AgentFinish{ReturnValues: map[string]any{outputKey: output}, Log: log}
}

func lastObservation(past []played) string {
	if len(past) == 0 {
		return ""
	}
	seen := past[len(past)-1].observations
	return seen[len(seen)-1]
}

// number is that of the last turn.
func number(past []played) int {
	last := 0
	for _, p := range past {
		last = max(last, p.Number)
	}
	return last
}
