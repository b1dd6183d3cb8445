package plugin

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/tools"
)

// policyModel has the plans of its tasks, by the last message of their prompts.
type policyModel struct{ plans map[string][]tools.Call }

var _ llms.Model = (*policyModel)(nil)

// NewPolicyModel makes a model of a trained policy that replies like a language
// model: one call per message, then a final text. It tests an agent end to end
// without a language model. It knows the given tasks by their prompts and plans
// them greedily when it is made, so that its replies are always the same. It is
// safe for concurrent use.
//
// It ignores results, as the policy does: a plan depends on the task only. The
// next call follows from the number of calls in the conversation. A
// conversation about an unknown task is an [*llms.Error] with code
// invalid_request.
//
// The error is a [*tools.Error] if a task cannot be planned: its environment
// must be one that policies can be trained on.
func NewPolicyModel(net *policy.Net, spec tools.Spec, tasks ...tools.Task) (llms.Model, error) {
	if spec.Enumerate == nil {
		return nil, refusal.New("spec", "an environment with Enumerate", "policies cannot play %q", spec.Name)
	}
	m := &policyModel{plans: make(map[string][]tools.Call, len(tasks))}
	env, actor := spec.Enumerate(), policy.NewActor(net)
	for _, task := range tasks {
		calls, err := planCalls(env, actor, task)
		if err != nil {
			return nil, fmt.Errorf("planning %s: %w", task.ID, err)
		}
		m.plans[lastMessage(task)] = calls
	}
	return m, nil
}

// planCalls returns the greedy plan of the policy, as calls.
func planCalls(env tools.Enumerator, actor *policy.Actor, task tools.Task) ([]tools.Call, error) {
	if err := env.Start(task.Rules, task.Level, task.Seed); err != nil {
		return nil, err
	}
	prompts := make([]policy.Prompt, 1)
	if err := prompts[0].Read(env, task.Level); err != nil { // as in training, with the closing [CTX]
		return nil, err
	}
	plans, err := actor.Plan(prompts, nil)
	if err != nil {
		return nil, err
	}
	return env.Calls(task, plans[0].Tokens)
}

// lastMessage returns the last message of the task's prompt.
func lastMessage(task tools.Task) string {
	if len(task.Prompt) == 0 {
		return ""
	}
	return task.Prompt[len(task.Prompt)-1].Content
}

// Call answers a single prompt. The answer has no calls, only the final text.
func (m *policyModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// GenerateContent returns the next call of the plan.
func (m *policyModel) GenerateContent(ctx context.Context, conversation []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, connectionError(ctx, "planning", err)
	}
	plan, known := m.find(conversation)
	if !known {
		return nil, refused("unknown conversation; expected one of the %d tasks that the policy has planned", len(m.plans))
	}
	due, choice := countCalls(conversation), &llms.ContentChoice{Content: "Done.", StopReason: "stop"}
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
