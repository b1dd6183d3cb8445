package api

import (
	"context"
	"encoding/json"
	"net/http"

	"toolgym/api/client"
	"toolgym/tools"
)

// stepRoutes are the two ways to go on in an episode.
func (s *Server) stepRoutes() {
	refusals := []int{http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusServiceUnavailable}
	handle(s, route{id: "call", method: http.MethodPost, path: "/v1/episodes/{id}/calls", tag: "episodes", role: Play,
		summary: "Call a tool of the episode",
		text: "An unknown tool, bad arguments and whatever else is the agent's own mistake give 200 and a result with is_error set, and the episode goes on. " +
			"The same request_id again gives the same answer and makes no second step; with another call it is a conflict.",
		refusals: refusals, request: client.Call{Name: "multiply", Arguments: json.RawMessage(`{"a":9,"b":3}`), RequestID: "step-1"}, answer: exampleAnswer()}, s.call)
	handle(s, route{id: "say", method: http.MethodPost, path: "/v1/episodes/{id}/messages", tag: "episodes", role: Play,
		summary: "Say something, calling nothing",
		text: "What a language model writes when it makes no call. Some environments judge it (a task that needs no tool is solved by answering); " +
			"to the others it is one step, recorded and without effect. The answer is that of a call, without a result.",
		refusals: refusals, request: client.Message{Content: "You are welcome!"}, answer: client.Answer{Reward: 1, Terminated: true, Step: 1}}, s.say)
}

type callInput struct {
	ID   string `path:"id" doc:"The id of an episode."`
	Sent body[client.Call]
}

func (s *Server) call(ctx context.Context, in *callInput) (*reply[client.Answer], error) {
	sent := in.Sent.value
	return s.play(ctx, in.ID, move{call: tools.Call{Name: sent.Name, Arguments: sent.Arguments}, request: sent.RequestID})
}

type messageInput struct {
	ID   string `path:"id" doc:"The id of an episode."`
	Sent body[client.Message]
}

func (s *Server) say(ctx context.Context, in *messageInput) (*reply[client.Answer], error) {
	return s.play(ctx, in.ID, move{message: in.Sent.value.Content, request: in.Sent.value.RequestID})
}

func (s *Server) play(ctx context.Context, id string, m move) (*reply[client.Answer], error) {
	e, err := s.episodes.use(exchangeOf(ctx).caller, id)
	if err != nil {
		return nil, s.sought(ctx, id, err)
	}
	answer, err := e.play(ctx, m, s.config.CallTimeout)
	if err != nil {
		return nil, err
	}
	s.episodes.used(e)
	s.metrics.step(e.spec.Name, answer.Reward, answer.Result != nil && answer.Result.IsError)
	return answered(answer), nil
}
