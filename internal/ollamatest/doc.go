// Package ollamatest runs a real Ollama for tests, with two models small
// enough to be kept in the repository.
//
//	func TestChat(t *testing.T) {
//		server := ollamatest.Start(t)
//		client := ollama.NewClient(server.URL, http.DefaultClient)
//		… chat with ollamatest.Tools …
//	}
//
// [Start] starts one server for the whole test process, on its first call,
// and shares it from then on: a start costs about 0.2 s, and the first answer
// of each model as much again. It needs no TestMain. [StartOwn] starts one
// for a single test, which may [Server.Stop] it to see what its absence does.
//
// A [Parrot] only speaks as Ollama does: it is for tests in which what a model
// says is no matter, or must be what no real one would say.
//
// Where there is no ollama the test is skipped, or failed, as package parts
// says.
//
// # The models
//
// [Tools] solves arithmetic tasks of stages 0 and 1, [Base] makes well-formed
// calls with wrong numbers; testdata/README.md says what each can do. Both
// are touchy: they know only the user messages and tool results of this
// module's environments, as compact JSON, with the tools in their documented
// order. At temperature 0, and at any other with a seed, the same request gets
// the same answer. With the format {"type":"string"} and num_predict -1 they
// write for many seconds: a reply to be cut in.
//
// # The server
//
// It listens on a loopback port that the kernel picks, so there is none to
// collide with. Its home, its models and its log lie in a folder of their own
// that is removed at the end; nothing of the user's Ollama is read or
// written. Its models compute on one thread. It answers one request at a time
// (OLLAMA_NUM_PARALLEL=1), and a request with another num_ctx than the one
// before loads the model anew, which takes about 0.3 s.
//
// What was seen of 0.6.5 and is pinned by tests here, since rollouts depend on
// it:
//
//   - A prompt that does not fit into num_ctx is cut without a word. First the
//     oldest messages go, so that prompt_eval_count falls from one turn to the
//     next; then the rest is cut to prompt_eval_count = num_ctx.
//   - A reply that reaches num_ctx goes on with half of the context forgotten:
//     prompt_eval_count + eval_count > num_ctx is the only sign.
//   - A reply that reached num_predict has the done_reason "length", even where
//     its calls were complete and parsed; num_predict 0 is no limit. Without
//     num_predict a reply ends after 10 × num_ctx tokens.
//   - When the connection is cut in mid-reply, a request without streaming
//     fails; with streaming, the client returns no error and Done is false.
//
// The server cannot outlive its test process, even one that is killed: a
// small shell holds a pipe from the process, and kills the server's process
// group when the pipe is closed.
package ollamatest
