package api

import (
	"context"
	"time"

	"toolgym/api/assessment"
	"toolgym/api/lab"
	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/internal/evaluation"
)

// labEvals are the evaluations as the lab's pages have them: what the routes
// under /v1/evals answer, to the same callers, and nothing else.
type labEvals struct{ server *Server }

var _ lab.Evaluations = labEvals{}

// labEvaluations is nil for a server that keeps none.
func (s *Server) labEvaluations() lab.Evaluations {
	if s.evals == nil {
		return nil
	}
	return labEvals{s}
}

func (e labEvals) List(ctx context.Context) ([]assessment.State, error) {
	answer, err := e.server.listEvals(ctx, nil)
	if err != nil {
		return nil, err
	}
	return answer.Body.Evals, nil
}

func (e labEvals) Find(ctx context.Context, name string) (assessment.State, error) {
	answer, err := e.server.getEval(ctx, &evalPath{ID: name})
	if err != nil {
		return assessment.State{}, err
	}
	return answer.Body, nil
}

func (e labEvals) Begin(ctx context.Context, request evaluation.Request) (assessment.State, error) {
	answer, err := e.server.beginEval(ctx, &evalInput{Sent: body[evaluation.Request]{value: request}})
	if err != nil {
		return assessment.State{}, err
	}
	return answer.Body, nil
}

// Stop leaves alone what has just ended, which Cancel would delete.
func (e labEvals) Stop(ctx context.Context, name string) error {
	if _, err := e.server.findEval(ctx, name); err != nil {
		return err
	}
	e.server.evals.Stop(name)
	return nil
}

func (e labEvals) Cancel(ctx context.Context, name string) error {
	_, err := e.server.cancelEval(ctx, &evalPath{ID: name})
	return err
}

func (e labEvals) Report(ctx context.Context, name string, patience time.Duration) (report.Report, bool, error) {
	if _, err := e.server.findEval(ctx, name); err != nil {
		return report.Report{}, false, err
	}
	return e.server.beside.Report(ctx, e.server.evaluationRoom(), name, patience)
}

func (e labEvals) Compare(ctx context.Context, first, second string) (eval.Comparison, error) {
	answer, err := e.server.compareEvals(ctx, &comparePath{ID: first, With: second})
	if err != nil {
		return eval.Comparison{}, err
	}
	return answer.Body, nil
}
