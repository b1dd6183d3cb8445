package plugin

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/tools"
)

// policyModel holds the plans of its tasks, by what each task asks.
type policyModel struct{ plans map[string][]tools.Call }

var _ llms.Model = (*policyModel)(nil)

// NewPolicyModel makes a trained policy into a model that answers as a language
// model would: one call a message, then a word. With it an agent can be tested
// end to end without any language model. It knows the tasks that it is made for
// by their prompts and plans them greedily here, so that it is the same every
// time, free to ask, and safe for concurrent use.
//
// It does not read results: its plan is made of the task alone, as the policy's
// always is. Which call is due, it sees by the calls in the conversation. A
// conversation about none of its tasks is an [*llms.Error], code
// invalid_request.
//
// An [*tools.Error] says why a task can not be planned: its environment must be
// one that the policy can be trained on.
func NewPolicyModel(net *policy.Net, spec tools.Spec, tasks ...tools.Task) (llms.Model, error) {
	if spec.Enumerate == nil {
		return nil, refusal.New("spec", "an environment with Enumerate", "no policy plays %q", spec.Name)
	}
	m := &policyModel{plans: make(map[string][]tools.Call, len(tasks))}
	env, actor := spec.Enumerate(), policy.NewActor(net)
	for _, task := range tasks {
		calls, err := planned(env, actor, task)
		if err != nil {
			return nil, fmt.Errorf("planning %s: %w", task.ID, err)
		}
		m.plans[asking(task)] = calls
	}
	return m, nil
}

// planned is the policy's greedy plan, as calls.
func planned(env tools.Enumerator, actor *policy.Actor, task tools.Task) ([]tools.Call, error) {
	if err := env.Start(task.Rules, task.Level, task.Seed); err != nil {
		return nil, err
	}
	prompts := make([]policy.Prompt, 1)
	if err := prompts[0].Read(env, task.Level); err != nil { // as in training, with its closing [CTX]
		return nil, err
	}
	plans, err := actor.Plan(prompts, nil)
	if err != nil {
		return nil, err
	}
	return env.Calls(task, plans[0].Tokens)
}

// asking is what a task says to the model last before it answers.
func asking(task tools.Task) string {
	if len(task.Prompt) == 0 {
		return ""
	}
	return task.Prompt[len(task.Prompt)-1].Content
}

// Call answers a single prompt, without calls: it has nothing to say then but
// that it is done.
func (m *policyModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// GenerateContent makes the call that is due.
func (m *policyModel) GenerateContent(ctx context.Context, conversation []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, broken(ctx, "asking the policy", err)
	}
	plan, known := m.find(conversation)
	if !known {
		return nil, refused("the conversation is about none of the %d tasks that this policy has planned", len(m.plans))
	}
	due, choice := asked(conversation), &llms.ContentChoice{Content: "Done.", StopReason: "stop"}
	if due < len(plan) {
		call := llms.ToolCall{ID: fmt.Sprintf("call_%d", due+1), Type: "function",
			FunctionCall: &llms.FunctionCall{Name: plan[due].Name, Arguments: string(plan[due].Arguments)}}
		choice = &llms.ContentChoice{StopReason: "stop", ToolCalls: []llms.ToolCall{call}, FuncCall: call.FunctionCall}
	}
	choice.GenerationInfo = map[string]any{"PromptTokens": 0, "CompletionTokens": 1, "TotalTokens": 1}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// find looks for a task among the texts of the conversation.
func (m *policyModel) find(conversation []llms.MessageContent) ([]tools.Call, bool) {
	for _, message := range conversation {
		for _, part := range message.Parts {
			if text, ok := part.(llms.TextContent); ok {
				if plan, ok := m.plans[text.Text]; ok {
					return plan, true
				}
			}
		}
	}
	return nil, false
}
