package dialect_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/api/dialect"
	"toolgym/grpo"
	"toolgym/internal/intake"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

const nothing = `{"tools":[],"expected":{"calls":[]}}`

func ask(t *testing.T, q dialect.RewardQuery) dialect.Query {
	t.Helper()
	query, err := dialect.OpenRLHF(q, &intake.Desk{})
	if err != nil {
		t.Fatal(err)
	}
	return query
}

func answer(t *testing.T, query dialect.Query, rubric grpo.Rubric) (dialect.Rewards, error) {
	t.Helper()
	scorer, err := grpo.NewScorer(tools.Specs{arithmetic.Spec()}, rubric)
	if err != nil {
		t.Fatal(err)
	}
	response, err := scorer.Score(t.Context(), query.Request)
	if err != nil {
		return dialect.Rewards{}, query.Place(err)
	}
	return query.Rewards(response)
}

// Completions of equal prompts are a group wherever they stand, and the answer
// has the order of the question.
func TestGroupsByPrompt(t *testing.T) {
	query := ask(t, dialect.RewardQuery{
		Query:   []string{"a1", "b2", "a3", "a4", "ab5"},
		Prompts: []string{"a", "b", "a", "a", "ab"},
		Labels:  []string{nothing, nothing, nothing, "arithmetic/restraint/4", nothing},
	})
	var texts [][]string
	for _, g := range query.Request.Groups {
		var group []string
		for _, c := range g.Completions {
			group = append(group, *c.Text)
		}
		texts = append(texts, group)
	}
	if diff := cmp.Diff([][]string{{"1", "3"}, {"2"}, {"4"}, {"5"}}, texts); diff != "" {
		t.Error(diff)
	}
	rewards, err := answer(t, query, grpo.Rubric{Criteria: map[string]grpo.Criterion{"digits": {Weight: 1, Formula: `text == "1" ? 10 : text == "2" ? 20 : text == "3" ? 30 : text == "4" ? 40 : 50`}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{10, 20, 30, 40, 50}, rewards.Rewards); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{1, 1, 1, 1, 1}, rewards.Scores); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{10, 20, 30, 40, 50}, rewards.ExtraLogs["digits"]); diff != "" {
		t.Error(diff)
	}
}

// The prompt is cut off exactly: a response may begin with its prompt again.
func TestThePromptIsCutOffOnce(t *testing.T) {
	query := ask(t, dialect.RewardQuery{Query: []string{"aaab", "", "é!"}, Prompts: []string{"a", "", "é"}, Labels: []string{nothing, nothing, nothing}})
	for i, want := range []string{"aab", "", "!"} {
		if got := *query.Request.Groups[i].Completions[0].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestQuestionsThatAreRefused(t *testing.T) {
	one := func(query, label string) dialect.RewardQuery {
		return dialect.RewardQuery{Query: []string{"x", query}, Prompts: []string{"x", "a"}, Labels: []string{nothing, label}}
	}
	tests := []struct {
		name, code, where string
		q                 dialect.RewardQuery
	}{
		{"another prompt", tools.Invalid, "/query/1", one("b", nothing)},
		{"half a character of a prompt", tools.Invalid, "/query/1", one("\xc3", nothing)},
		{"fewer prompts", tools.Invalid, "", dialect.RewardQuery{Query: []string{"a"}, Labels: []string{nothing}}},
		{"fewer labels", tools.Invalid, "", dialect.RewardQuery{Query: []string{"a"}, Prompts: []string{"a"}}},
		{"no label", tools.Invalid, "/labels/1", one("a", " ")},
		{"no such task", tools.NotFound, "/labels/1", one("a", "chess/0/1")},
		{"no such level", tools.Invalid, "/labels/1", one("a", "arithmetic/9/1")},
		{"half an object", tools.Invalid, "/labels/1", one("a", `{"task_id":`)},
		{"two objects", tools.Invalid, "/labels/1", one("a", nothing+nothing)},
		{"an unknown field", tools.Invalid, "/labels/1", one("a", `{"wat":1}`)},
		{"a task twice", tools.Invalid, "/labels/1", one("a", `{"task_id":"arithmetic/0/1","expected":{"calls":[]}}`)},
		{"an unknown family", tools.Invalid, "/labels/1/family", one("a", `{"task_id":"arithmetic/0/1","family":"latin"}`)},
		{"a schema that leaves", tools.Invalid, "/labels/1/tools/0/parameters", one("a", `{"tools":[{"name":"f","parameters":{"$ref":"http://x/"}}],"expected":{"calls":[]}}`)},
		{"a call of no tool", tools.Invalid, "/labels/1", one("a", `{"tools":[],"expected":{"calls":[{"name":"f"}]}}`)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			query, err := dialect.OpenRLHF(test.q, &intake.Desk{})
			if err == nil {
				_, err = answer(t, query, grpo.DefaultRubric())
			}
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != test.code || e.Where != test.where {
				t.Errorf("%#v, want %s at %q", err, test.code, test.where)
			}
		})
	}
}

// What nobody counted is no number: paid for, it makes the reward null, which is
// refused; not paid for, it is left out of the logs.
func TestNumbersThatAreUnknown(t *testing.T) {
	query := ask(t, dialect.RewardQuery{Query: []string{"ab"}, Prompts: []string{"a"}, Labels: []string{nothing}})
	length := func(weight float64) grpo.Rubric {
		return grpo.Rubric{Criteria: map[string]grpo.Criterion{
			grpo.CriterionFormat: {Weight: 1}, grpo.CriterionLength: {Weight: weight, Unit: grpo.UnitToken, Soft: 1, Max: 2}}}
	}
	_, err := answer(t, query, length(-1))
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Unavailable || e.Where != "/query/0" || !strings.Contains(e.Message, "nobody counted") {
		t.Errorf("%v, want one that says what is unknown", err)
	}
	rewards, err := answer(t, query, length(0))
	if _, ok := rewards.ExtraLogs[grpo.CriterionLength]; ok || err != nil || rewards.Rewards[0] != 1 {
		t.Errorf("%+v, %v", rewards, err)
	}
}
