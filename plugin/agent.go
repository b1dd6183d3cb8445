package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/prompts"
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
