// Package plugin joins toolgym and langchaingo (github.com/tmc/langchaingo,
// written for v0.1.14): tools both ways, a model of an Ollama server that calls
// tools, and an agent that plans with them.
//
// # Tools
//
// [Tools] offers a set, and [EpisodeTools] a running episode, to langchaingo;
// each tool also shows its JSON Schema ([Typed]). [Adopt] goes the other way:
// a langchaingo tool becomes a toolgym tool, so that it can be served,
// validated, recorded and graded. [Guard] makes tools of any origin safe for a
// run. A remote episode is a [tools.Caller] like any other: [DialMCP] opens one
// over MCP.
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
// The same agent works in agents.NewExecutor(agent, agents.WithMaxIterations(32))
// and as a [tools.Agent] in [tools.Rollout]. What differs from langchaingo's own
// parts: tools get typed arguments and not one string; parallel calls stay
// together; a tool's error is an observation and does not end the run; tool
// callbacks fire; options that nobody set are not sent; an answer that breaks
// off is an error.
//
// # Recording, grading, evaluating
//
// A [Recorder] is a callbacks handler. It hears a run, ours or that of an agent
// of langchaingo, and gives its trajectory, a group for [grpo.Scorer.Score], a
// line for "toolgym score" and a training [Sample]:
//
//	recorder := &plugin.Recorder{Task: task}
//	agent, err := plugin.NewAgent(plugin.AgentConfig{Model: model, Callbacks: recorder})
//	trajectory, err := tools.Rollout(ctx, env, task, agent)
//	line, err := recorder.Line("g1")
//
// [Evaluate] plays many tasks and sums them up as package eval does; a [Driver]
// puts an agent into an eval.Runner, beside models. [NewPolicyModel] makes a
// trained policy of package policy into a model, so that an agent can be tested
// without any language model; package trained has one for each level that one is
// trained for:
//
//	net, _, err := trained.Load("gridworld", "1")
//	model, err := plugin.NewPolicyModel(net, gridworld.Spec(), task)
//
// # What a step carries
//
// An executor of langchaingo keeps a list of steps, one a call, and nothing else.
// So an Agent writes the whole turn, as JSON, into the Log of each of its
// actions: which calls belong together, what was said beside them, what they
// cost, when the run began. Do not change the Log of a step that you store.
// A call that can not be made (an unknown tool, text that can not be read) bears
// the name of its tool with " (no call)" behind it there, since an executor
// would fold its case and might find a tool.
//
// # Errors
//
// The agent's mistake is an observation {"error": message}. A mistake in a
// configuration is an error at construction. A failure outside ends the run
// with an error: of the model an *llms.Error, of a tool's server or environment
// that error itself. A used-up budget is [ErrBudget].
package plugin
