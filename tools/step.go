package tools

// A Step is one move of an episode: what the agent did and what the
// environment made of it. Terminated and Truncated are set only by the three
// constructors, and never both.
type Step struct {
	Call       Call    `json:"call,omitzero"`     // zero when the agent spoke
	Message    string  `json:"message,omitempty"` // what the agent said, where it called nothing
	Result     Result  `json:"result,omitzero"`   // zero when the agent spoke
	Reward     float64 `json:"reward"`            // the environment's own; a rubric's reward is another matter
	Terminated bool    `json:"terminated"`        // the task has come to its end
	Truncated  bool    `json:"truncated"`         // the limit cut the episode off
}

// Transition is a step after which the episode goes on.
func Transition(call Call, result Result, reward float64) Step {
	return Step{Call: call, Result: result, Reward: reward}
}

// Termination is the step that ends a task by its own rules.
func Termination(call Call, result Result, reward float64) Step {
	return Step{Call: call, Result: result, Reward: reward, Terminated: true}
}

// Truncation is the step at which the limit cuts the episode off.
func Truncation(call Call, result Result, reward float64) Step {
	return Step{Call: call, Result: result, Reward: reward, Truncated: true}
}

// Spoken is the same step with what the agent said in place of a call.
func (s Step) Spoken(text string) Step {
	s.Call, s.Result, s.Message = Call{}, Result{}, text
	return s
}

// Done reports whether the episode is over.
func (s Step) Done() bool { return s.Terminated || s.Truncated }
