package api

import (
	"context"
	"net/http"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

func (s *Server) parseRoutes() {
	text := "<think>Nine times three.</think>\n<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 9, \"b\": 3}}\n</tool_call>"
	request := parse.Request{Input: parse.Input{Text: &text, Family: parse.Hermes, FinishReason: "stop"}, Tools: tools.Set{exampleTool()}}
	answer, err := request.Read()
	if err != nil {
		panic("api: the example of reading cannot be read: " + err.Error())
	}
	handle(s, route{id: "parse", work: heavy, method: http.MethodPost, path: "/v1/parse", tag: "scores", role: Score,
		summary: "Read the calls that a model wrote",
		text: "Exactly one of text (what the model generated), message (a server's body: a chat message with any further fields, or an error) and " +
			"stream (a server's chunks). The calls of the answer are those that count; attempts has the tier and the defects of every attempt, and " +
			"defects sums that up. schema_valid is null without calls.",
		request: request, answer: answer}, s.parse)
}

type parseInput struct{ Sent checked[parse.Request] }

func (s *Server) parse(ctx context.Context, in *parseInput) (*reply[parse.Reading], error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	reading, err := s.desk.Read(ctx, in.Sent.text)
	if err != nil {
		return nil, err
	}
	return answered(reading), nil
}
