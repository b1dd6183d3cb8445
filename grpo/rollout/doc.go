// Package rollout drives a language model through an environment, turn by turn,
// and keeps the conversation.
//
// # Routes
//
//   - [Chat] asks an Ollama server at /api/chat, with the environment's tools as
//     native tools: the model as it is deployed, with its server's parser;
//   - [Raw] renders the model's own template, asks at /api/generate without
//     formatting, and reads the text of the model: the model without its
//     server's parser. The template is executed as Ollama does it, but gets the
//     whole schemas of the tools. If the template does not use tools, they are
//     listed in a system message, in the form of the hermes family;
//   - [OpenAI] asks at /v1/chat/completions, as llama.cpp, vLLM, LM Studio and
//     Ollama itself serve it.
//
// Each is a configuration, safe for concurrent use. Its Run plays one task and
// returns a [Transcript]: every message and reply unchanged, the trajectory of
// the environment, token counts and times.
//
// [Config.Probe] asks an Ollama server for its version and the capabilities of a
// model.
//
// # Failures
//
// A reply that cannot be graded ends the rollout with a [grpo.Failure]; the
// grader returns a null reward for it, never 0:
//
//   - infrastructure: the server cannot be reached, does not have the model,
//     returns an error of its own, or closes the connection before the reply is
//     marked as done; it redirects to another address, which is never asked;
//   - serving: tokens were generated and the message is empty; the reply is
//     longer than MaxReply, after decompression, or the replies of the trial
//     together are longer than the [Budget] of the evaluation; its bytes are not
//     UTF-8, or its message is ambiguous or has a field of another form;
//   - harness: the model's template cannot be executed within its limits, or the
//     prompt did not fit the context, so that the model did not see all of it.
//     num_ctx is always sent to Ollama, and prompt_eval_count is checked against
//     it after every turn. Servers with OpenAI's API have a fixed context; their
//     error messages are recognized.
//
// An error response that quotes a call which the server could not parse is
// malformed output of the model, and so is a reply that reached num_predict:
// both are graded. So are arguments that cannot be read strictly: nested too
// deeply, with a duplicate key, or with too many values. Nothing is retried.
//
// # The path of a trial
//
// chat.go or openai.go (Run, the request of the route) → dialogue.go (turns, who
// is responsible for a failure) → server.go (HTTP, limits) → grpo/parse (reading
// the message) → the environment.
package rollout
