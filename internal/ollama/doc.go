// Package ollama is the form in which an Ollama server takes requests and
// answers them, for the routes of package grpo/rollout and the model of package
// plugin.
//
// The client types of github.com/ollama/ollama/api are used where they keep what
// they are given. The arguments of calls are not decoded: there they would pass
// through float64 and lose digits. [Tools] is the one conversion of tools to the
// form of the server, and says what of their schemas that form cannot carry.
//
// Sources: api/types.go of Ollama v0.17.4, and docs/api.md there.
package ollama
