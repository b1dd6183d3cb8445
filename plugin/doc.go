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
// # Errors
//
// The agent's mistake is an observation {"error": message}. A mistake in a
// configuration is an error at construction. A failure outside ends the run
// with an error: of the model an *llms.Error, of a tool's server or environment
// that error itself. A used-up budget is [ErrBudget].
package plugin
