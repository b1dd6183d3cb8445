// Package rollout drives a language model through an environment, turn by
// turn, and keeps what both sides said.
//
// # Routes
//
//   - [Chat] asks an Ollama server at /api/chat, with the environment's tools
//     as native tools: the model as it is deployed, and what its server makes
//     of its output;
//   - [Raw] renders the model's own template here, asks at /api/generate
//     without any formatting, and reads the text that the model wrote: the
//     model without its server. The template is executed as Ollama does it, but
//     sees the whole schemas of the tools. A model whose template knows no
//     tools is shown them in a system message, in the hermes form;
//   - [OpenAI] asks at /v1/chat/completions, which llama.cpp, vLLM, LM Studio
//     and Ollama itself answer.
//
// Each is a configuration, safe for concurrent use; its Run plays one task and
// returns a [Transcript]: every message as it was sent, every reply as it came,
// the trajectory of the environment, token counts and times.
//
// [Config.Probe] asks an Ollama server what it is and what a model can do, by
// asking and not by concluding from a version.
//
// # Whose fault
//
// A reply that can not be graded ends the rollout with a [grpo.Failure], and the
// grader gives it a null reward and never 0:
//
//   - infrastructure: the server can't be reached, does not have the model,
//     answers with an error of its own, or the connection ended before the
//     reply said that it was done; it redirects to another address, which is
//     never asked;
//   - serving: tokens were generated and the message that arrived is empty; the
//     reply is longer than MaxReply, after decompression, or the trial's replies
//     together are longer than the [Budget] of the evaluation; its bytes are not
//     UTF-8, or its message is ambiguous or has a field of another form;
//   - harness: the model's template cannot be executed within its limits, or the
//     prompt did not fit the context, so that the model never saw all of it. num_ctx is always sent to Ollama, and prompt_eval_count is
//     checked against it after every turn. Servers of the OpenAI form have their
//     context fixed; their refusals are recognised.
//
// An error of the server that quotes a call which it could not parse is the
// model's own malformed output, and so is a reply that reached num_predict:
// both are graded. So are arguments that cannot be read strictly: nested too
// deep, with a key twice, or of too many values. Nothing is repeated here.
package rollout
