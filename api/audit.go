package api

import (
	"context"
	"net/http"

	"toolgym/api/client"
	"toolgym/grpo"
	"toolgym/grpo/audit"
	"toolgym/internal/refusal"
)

func (s *Server) auditRoutes() {
	rubric := grpo.DefaultRubric()
	reward := 0.95
	handle(s, route{id: "audit-rubric", work: heavy, method: http.MethodPost, path: "/v1/audit", tag: "scores", role: Score,
		summary: "Attack a rubric",
		text: "Tries to be paid by the rubric without doing the task: every attack of a suite, made against tasks of the environments. " +
			"Each reward stands beside that of an honest near miss, one valid call with one wrong value; a rubric that pays an attack more has not passed. " +
			"Without a rubric, the default one is attacked.",
		request: client.Audit{Rubric: &rubric},
		answer:  audit.Report{Passed: true, Findings: []audit.Finding{{Attack: "ten guesses", Task: "arithmetic/2/1", Reward: &reward, NearMiss: 2.45, Passed: true}}},
	}, s.audit)
}

type auditOrder struct{ Sent body[client.Audit] }

func (s *Server) audit(ctx context.Context, in *auditOrder) (*reply[audit.Report], error) {
	rubric := grpo.DefaultRubric()
	if in.Sent.value.Rubric != nil {
		rubric = *in.Sent.value.Rubric
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	report, err := audit.Run(ctx, s.config.Specs, rubric)
	if err != nil {
		return nil, refusal.Below("/rubric", err)
	}
	return answered(report), nil
}
