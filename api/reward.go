package api

import (
	"context"
	"net/http"

	"toolgym/api/dialect"
)

func (s *Server) rewardRoute() {
	query, rewards := exampleRewards()
	handle(s, route{id: "get-reward", method: http.MethodPost, path: "/get_reward", tag: "trainers", role: Score, limit: maxScoreBody,
		refusals: []int{http.StatusNotFound},
		summary:  "Answer OpenRLHF's remote reward function",
		text: "For --remote_rm_url of OpenRLHF. Completions of equal prompts are a group. A reward that is null can not be expressed: such a request is answered with 503 " +
			"and the reason, and the trainer tries again.",
		request: query, answer: rewards}, s.reward)
}

type rewardInput struct{ Sent body[dialect.RewardQuery] }

func (s *Server) reward(ctx context.Context, in *rewardInput) (*reply[dialect.Rewards], error) {
	asked, err := dialect.OpenRLHF(in.Sent.value, &s.desk)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	response, err := s.scorer.Score(ctx, asked.Request)
	if err != nil {
		return nil, asked.Place(err)
	}
	s.metrics.scoring(response)
	rewards, err := asked.Rewards(response)
	if err != nil {
		return nil, err
	}
	return answered(rewards), nil
}
