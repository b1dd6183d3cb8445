package rollout

import (
	"fmt"
	"strings"
)

// cut says how a turn shows that the model did not see the whole conversation.
// An Ollama server that has to cut its prompt says nothing: the prompt then has
// exactly num_ctx tokens, or fewer than that of the turn before, although
// messages were only added; and a context that fills up while generating is
// shifted.
func (d *dialogue) cut(turn Turn) string {
	before, size := 0, d.config.NumCtx
	if len(d.Turns) > 0 {
		before = d.Turns[len(d.Turns)-1].PromptTokens
	}
	switch {
	case turn.PromptTokens >= size:
		return fmt.Sprintf("the prompt was cut to num_ctx: prompt_eval_count %d of %d", turn.PromptTokens, size)
	case turn.PromptTokens > 0 && turn.PromptTokens < before:
		return fmt.Sprintf("the conversation was cut to fit num_ctx %d: prompt_eval_count fell from %d to %d", size, before, turn.PromptTokens)
	case turn.PromptTokens+turn.OutputTokens > size:
		return fmt.Sprintf("the context was shifted while generating: %d tokens of prompt and %d of output in num_ctx %d", turn.PromptTokens, turn.OutputTokens, size)
	case turn.DoneReason == "length" && turn.PromptTokens+turn.OutputTokens == size:
		return fmt.Sprintf("the context was full before the reply ended: num_ctx %d", size)
	}
	return ""
}

// contextError recognises the refusals of servers that do not cut.
func contextError(message string) bool {
	message = strings.ToLower(message)
	for _, words := range []string{"context length", "context window", "context size", "maximum context", "exceeds the available context"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
