// Package plugin connects toolgym and langchaingo (github.com/tmc/langchaingo
// v0.1.14): tools in both directions, a model of an Ollama server that calls
// tools, and an agent that plans with them.
//
// # Tools
//
// [Tools] converts a set, and [EpisodeTools] a running episode, to langchaingo
// tools; each of them has its JSON Schema ([Typed]). [FromLangchain] converts a
// langchaingo tool to a toolgym tool, so that it can be served, validated,
// recorded and graded. [Guard] wraps tools of any origin for a run. A remote
// episode is a [tools.Caller] like any other: [DialMCP] opens one over MCP.
//
//	env := spec.New()
//	…
//	offered, err := plugin.EpisodeTools(env)
//
// # Model and agent
//
//	model, err := plugin.NewModel(plugin.ModelConfig{Name: "qwen3", NumCtx: 8192})
//	agent, err := plugin.NewAgent(plugin.AgentConfig{Model: model, Tools: offered})
//	outcome, err := agent.Run(ctx, "Compute 4*2+7. Use the tools, then call answer with the result.")
//
// The agent also works in agents.NewExecutor(agent, agents.WithMaxIterations(32))
// and as a [tools.Agent] in [tools.Rollout]. It differs from langchaingo's own
// agents: tools get typed arguments instead of one string; parallel calls stay
// together; a tool's error is an observation and does not end the run; tool
// callbacks are called; unset options are not sent; an incomplete reply is an
// error.
//
// # Recording, grading, evaluating
//
// A [Recorder] is a callbacks handler. It records a run of an [Agent] or of an
// agent of langchaingo, and returns its trajectory, a group for
// [grpo.Scorer.Score], a line for "toolgym score" and a training [Sample]:
//
//	recorder := &plugin.Recorder{Task: task}
//	agent, err := plugin.NewAgent(plugin.AgentConfig{Model: model, Callbacks: recorder})
//	trajectory, err := tools.Rollout(ctx, env, task, agent)
//	line, err := recorder.Line("g1")
//
// [Evaluate] plays many tasks and summarizes them as package eval does; a
// [Driver] makes an agent a participant of an eval.Runner. [NewPolicyModel] makes
// a model of a trained policy of package policy, so that an agent can be tested
// without a language model; package trained has a policy per level:
//
//	net, _, err := trained.Load("gridworld", "1")
//	model, err := plugin.NewPolicyModel(net, gridworld.Spec(), task)
//
// # The log of a step
//
// An executor of langchaingo keeps a list of steps, one per call, and nothing
// else. Therefore an Agent writes the whole turn, as JSON, into the Log of each
// of its actions: which calls belong together, the text of the message, the
// token counts, when the run began. Do not change the Log of a step that you
// store. A call that cannot be made (an unknown tool, text that cannot be read)
// has the name of its tool with the suffix " (no call)" there, since an executor
// ignores case and might find a tool.
//
// # Errors
//
// A mistake of the agent is an observation {"error": message}. An invalid
// configuration is an error of the constructor. An outside failure ends the run
// with an error: an *llms.Error of the model, or the error of a tool's server or
// environment. An exhausted budget is [ErrBudget].
//
// # The path of a run
//
// agent.go (Plan, the budget) → model.go (the request) → chat.go (Ollama's form,
// the reply) → run.go (reading the message, making the calls) → guard.go and
// tool.go (one call) → recorder.go (the callbacks).
package plugin
