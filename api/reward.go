package api

import (
	"context"
	"net/http"

	"toolgym/api/dialect"
)

func (s *Server) rewardRoute() {
	query, rewards := exampleRewards()
	handle(s, route{id: "get-reward", work: heavy, method: http.MethodPost, path: "/get_reward", tag: "trainers", role: Score, limit: maxScoreBody,
		refusals: []int{http.StatusNotFound},
		summary:  "Answer OpenRLHF's remote reward function",
		text: "For --remote_rm_url of OpenRLHF. Completions of equal prompts are a group. A reward that is null cannot be expressed: such a request is answered with 503 " +
			"and the reason, and the trainer tries again.",
		request: query, answer: rewards, number: numberOfQueries}, s.reward)
}

// numberOfQueries counts the completions of a question.
func numberOfQueries(value any) (n int, pointer string) {
	question, _ := value.(map[string]any)
	queries, _ := question["query"].([]any)
	return len(queries), "#/query"
}

type rewardInput struct{ Sent body[dialect.RewardQuery] }

func (s *Server) reward(ctx context.Context, in *rewardInput) (*reply[dialect.Rewards], error) {
	if err := s.charge(ctx, completionWeight*int64(len(in.Sent.value.Query))); err != nil {
		return nil, err
	}
	query, err := dialect.OpenRLHF(in.Sent.value, &s.desk)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	response, err := s.scorer.ScoreWithin(ctx, query.Request, func(bytes int64) error { return s.charge(ctx, bytes) })
	if err != nil {
		return nil, query.Place(err)
	}
	s.metrics.scoring(response)
	s.logScores(ctx, response)
	rewards, err := query.Rewards(response)
	if err != nil {
		return nil, err
	}
	return answered(rewards), nil
}
