package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/objective"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// maxScoreBody is what the body of a score route may have, in bytes.
const maxScoreBody = 64 << 20

func (s *Server) scoreRoutes() {
	request, answer := exampleScores()
	handle(s, route{id: "score", work: heavy, method: http.MethodPost, path: "/v1/score", tag: "scores", role: Score, limit: maxScoreBody,
		refusals: []int{http.StatusNotFound},
		summary:  "Score groups of completions",
		text: "The completions of a group are graded against a task of an environment, in a fresh copy of which their calls are made, or against tools and what " +
			"is expected of them. A completion that cannot be held against the model has a null reward, with the reason in failure, and leaves mean and standard " +
			"deviation. With log-probabilities for all completions the metrics have loss, kl and clip_ratio. " +
			"A request has at most 65,536 completions and groups, unless the server is configured otherwise, and its scores a bounded size (413); so have the schemas of tools " +
			"(422), and the steps that it takes to check arguments against them: over 1,000,000 a completion has a failure of kind harness.",
		request: request, answer: answer, number: numberOfCompletions}, s.score)
	s.streamRoute()
	s.rewardRoute()
}

type scoreInput struct{ Sent checked[grpo.Request] }

func (s *Server) score(ctx context.Context, in *scoreInput) (*reply[grpo.Response], error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	request, err := s.scoreRequest(ctx, in.Sent.text)
	if err != nil {
		return nil, err
	}
	response, err := s.scorer.ScoreWithin(ctx, request, func(bytes int64) error { return s.charge(ctx, bytes) })
	if err != nil {
		return nil, err
	}
	s.metrics.scoring(response)
	s.logScores(ctx, response)
	return answered(response), nil
}

// sentRequest is a request whose parts are decoded one by one, so that what is
// wrong with one is said by its place.
type sentRequest struct {
	grpo.Request
	Rubric json.RawMessage `json:"rubric"`
	Loss   json.RawMessage `json:"loss"`
	Groups []sentGroup     `json:"groups"`
}

type sentGroup struct {
	grpo.Group
	Tools    json.RawMessage `json:"tools"`
	Expected json.RawMessage `json:"expected"`
}

// numberOfCompletions counts the groups and the completions of a request.
func numberOfCompletions(value any) (n int, pointer string) {
	request, _ := value.(map[string]any)
	groups, _ := request["groups"].([]any)
	for _, g := range groups {
		group, _ := g.(map[string]any)
		completions, _ := group["completions"].([]any)
		n += 1 + len(completions)
	}
	return n, "#/groups"
}

func (s *Server) scoreRequest(ctx context.Context, text []byte) (grpo.Request, error) {
	var sent sentRequest
	if err := json.Unmarshal(text, &sent); err != nil {
		return grpo.Request{}, misfit(err)
	}
	request := sent.Request
	if sent.Rubric != nil {
		request.Rubric = new(grpo.Rubric)
		if err := request.Rubric.UnmarshalJSON(sent.Rubric); err != nil {
			return request, refusal.Below("/rubric", err)
		}
	}
	if sent.Loss != nil {
		request.Loss = new(objective.Config)
		if err := request.Loss.UnmarshalJSON(sent.Loss); err != nil {
			return request, refusal.Below("/loss", err)
		}
	}
	request.Groups = make([]grpo.Group, len(sent.Groups))
	charged := map[*tools.Tool]bool{} // equal lists are one
	for i := range sent.Groups {
		if err := ctx.Err(); err != nil { // schemas may take long to compile
			return request, fmt.Errorf("reading groups: %w", err)
		}
		if err := s.charge(ctx, completionWeight*int64(1+len(sent.Groups[i].Completions))); err != nil {
			return request, err
		}
		group, err := s.group(&sent.Groups[i])
		if err != nil {
			return request, refusal.Below(fmt.Sprintf("/groups/%d", i), err)
		}
		if len(group.Tools) > 0 && !charged[&group.Tools[0]] {
			charged[&group.Tools[0]] = true
			if err := s.charge(ctx, int64(group.Tools.Memory())); err != nil {
				return request, err
			}
		}
		request.Groups[i] = group
	}
	return request, nil
}

func (s *Server) group(sent *sentGroup) (grpo.Group, error) {
	group := sent.Group
	var err error
	if group.Tools, err = s.desk.Tools(sent.Tools); err != nil {
		return group, refusal.Below("/tools", err)
	}
	if sent.Expected != nil {
		group.Expected = new(match.Expected)
		if err := json.Unmarshal(sent.Expected, group.Expected); err != nil {
			return group, refusal.Below("/expected", misfit(err))
		}
	}
	return group, nil
}

// misfit is unfit as the error of a handler.
func misfit(err error) error {
	if _, ok := errors.AsType[*tools.Error](err); ok {
		return err
	}
	f := unfit(err)
	return refusal.New(strings.TrimPrefix(f.pointer, "#"), "", "%s", f.message)
}
