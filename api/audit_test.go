package api_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"toolgym/api"
	"toolgym/api/client"
	"toolgym/grpo"
	"toolgym/grpo/audit"
	"toolgym/tools"
	"toolgym/tools/research"
)

func TestAudit(t *testing.T) {
	f := serve(t, api.Config{Specs: tools.Specs{research.Spec()}})
	greedy := grpo.DefaultRubric()
	greedy.Criteria["calls_parsed"] = grpo.Criterion{Weight: 0.5}
	tests := []struct {
		name   string
		rubric *grpo.Rubric
		hole   string // empty where none is wanted
	}{
		{"the default rubric", nil, ""},
		{"pays for call counts", &greedy, "ten guesses"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body, err := json.Marshal(client.Audit{Rubric: test.rubric})
			if err != nil {
				t.Fatal(err)
			}
			got := f.ask("POST", "/v1/audit", string(body))
			readContract(t, f).check(t, "POST", "/v1/audit", got)
			var report audit.Report
			if err := json.Unmarshal([]byte(got.body), &report); err != nil || got.status != 200 {
				t.Fatalf("%d %s: %v", got.status, got.body, err)
			}
			named := slices.ContainsFunc(report.Holes(), func(f audit.Finding) bool { return f.Attack == test.hole && f.Task != "" && f.Reward != nil })
			if report.Passed != (test.hole == "") || named != (test.hole != "") || len(report.Findings) == 0 {
				t.Errorf("passed %v, holes %v", report.Passed, report.Holes())
			}
		})
	}
}

func TestAuditByTheClient(t *testing.T) {
	f := serve(t, api.Config{})
	c, err := client.New(client.Config{URL: f.url})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	report, err := c.Audit(t.Context(), nil)
	if err != nil || !report.Passed {
		t.Errorf("passed %v, %v", report.Passed, err)
	}
	_, err = c.Audit(t.Context(), &grpo.Rubric{})
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid {
		t.Errorf("error %v, want an invalid one", err)
	}
}
