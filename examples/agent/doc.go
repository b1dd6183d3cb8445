// Agent lets a model of an Ollama server play a task of arithmetic and one of
// the gridworld by package plugin, prints what it does, and grades it.
//
//	go run ./examples/agent -model qwen3 -ollama http://127.0.0.1:11434
//
// The plugin's agent is a tools.Agent: tools.Rollout plays it here, and a
// client's Play would play it over REST. A recorder hears it, and the scorer
// grades what was recorded.
package main
