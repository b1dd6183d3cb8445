// Package rollout drives a language model through an environment, turn by
// turn, and keeps what both sides said.
//
// The chat route asks an Ollama server at /api/chat, with the environment's
// tools as native tools: the model as it is deployed. [Chat] is a
// configuration of one model on one server; [Chat.Run] plays one task and
// returns a [Transcript]: every message as it was sent, every reply as it came,
// the trajectory of the environment, token counts and times.
//
// # Whose fault
//
// A reply that can not be graded ends the rollout with a [grpo.Failure], and the
// grader gives it a null reward and never 0:
//
//   - infrastructure: the server can't be reached, does not have the model,
//     answers with an error of its own, or the connection ended before the
//     reply said that it was done;
//   - serving: tokens were generated and the message that arrived is empty;
//   - harness: the prompt did not fit the context, so that the model never saw
//     all of it. num_ctx is always sent, and prompt_eval_count is checked
//     against it after every turn.
//
// An error of the server that quotes a call which it could not parse is the
// model's own malformed output, and so is a reply that reached num_predict:
// both are graded.
package rollout
