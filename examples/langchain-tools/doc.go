// Langchain-tools takes a stock tool of langchaingo, its calculator, and serves,
// checks and grades it as one of toolgym's own.
//
//	go run ./examples/langchain-tools -model qwen3 -ollama http://127.0.0.1:11434
//
// The tool is adopted, served over REST by a server of toolgym, called from
// there by a model, and the run is graded against the call that was expected.
package main
