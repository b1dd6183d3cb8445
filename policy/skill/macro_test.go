package skill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// script makes calls that are written "tool arguments".
type script []string

func (s script) Play(ctx context.Context, _ tools.Task, _ json.RawMessage, caller tools.Caller) error {
	for _, line := range s {
		name, arguments, _ := strings.Cut(line, " ")
		step, err := caller.Step(ctx, tools.Call{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil || step.Done() {
			return err
		}
	}
	return nil
}

// find is a task of a level whose prompt asks for an expression.
func find(t *testing.T, level, expression string) tools.Task {
	t.Helper()
	for seed := range uint64(200_000) {
		task, err := arithmetic.Spec().Task("", level, seed)
		must(t, err)
		if strings.Contains(task.Prompt[0].Content, "Compute "+expression+". ") {
			return task
		}
	}
	t.Fatalf("no task asks for %s", expression)
	return tools.Task{}
}

func TestExtractMacro(t *testing.T) {
	op := func(tool string, a, b int) string { return fmt.Sprintf(`%s {"a":%d,"b":%d}`, tool, a, b) }
	tests := []struct {
		name, level, expression string
		calls                   script
		want                    string // "" for no macro
	}{
		{"plain", "0", "4*2+7", script{op("multiply", 4, 2), op("add", 8, 7), `answer {"value":15}`},
			`multiply{"a":{"operand":0},"b":{"operand":1}} add{"a":{"result":0},"b":{"operand":2}} answer{"value":{"result":1}}`},
		{"detours and mistakes are left out", "0", "4*2+7", script{op("add", 4, 2), `fly {}`, `store {"value":7}`, op("multiply", 4, 2), `recall {"x":1}`, op("add", 8, 7), `answer {"value":15}`},
			`multiply{"a":{"operand":0},"b":{"operand":1}} add{"a":{"result":0},"b":{"operand":2}} answer{"value":{"result":1}}`},
		{"equal numbers", "0", "1*1+1", script{op("multiply", 1, 1), op("add", 1, 1), `answer {"value":2}`},
			`multiply{"a":{"operand":0},"b":{"operand":1}} add{"a":{"result":0},"b":{"operand":2}} answer{"value":{"result":1}}`},
		{"what is stored and recalled stays", "0", "4*2+7", script{op("multiply", 4, 2), `store {"value":8}`, `recall {}`, op("add", 8, 7), `answer {"value":15}`},
			`multiply{"a":{"operand":0},"b":{"operand":1}} store{"value":{"result":0}} recall{} add{"a":{"result":2},"b":{"operand":2}} answer{"value":{"result":3}}`},
		{"computed in the head", "0", "4*2+7", script{`answer {"value":15}`}, ""},
		{"written out", "0", "4*2+7", script{`calculator {"expression":"4*2+7"}`, `answer {"value":15}`}, ""},
		{"not solved", "0", "4*2+7", script{op("multiply", 4, 2), `answer {"value":8}`}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			trajectory, err := tools.Rollout(t.Context(), arithmetic.Spec().New(), find(t, test.level, test.expression), test.calls)
			must(t, err)
			got := ""
			for _, s := range extract(t, trajectory) {
				for i, action := range s.Actions {
					if i > 0 {
						got += " "
					}
					got += action.Name + string(action.Arguments)
				}
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestMacrosGeneralise: what was learnt on a few tasks answers all others of
// the same shape, with numbers a hundred thousand times as large too.
func TestMacrosGeneralise(t *testing.T) {
	library := skill.NewLibrary(tools.Sound)
	lesson := skill.Lesson{Spec: arithmetic.Spec(), Levels: []string{"0", "1", "2", "grounded"}, Episodes: 3, Further: []string{"large"}, Tasks: 60, Teacher: arithmetic.Spec().Oracle}
	must(t, lesson.Learn(t.Context(), library, func(skill.Episode) error { return nil }))
	var episodes []skill.Episode
	grades, err := lesson.Examine(t.Context(), library, func(e skill.Episode) error {
		episodes = append(episodes, e)
		return nil
	})
	must(t, err)
	if got := skill.Summarise(episodes); got.MedianDecisions != 1 || got.OptimumRatio != 1 || got.BaselineMedianSteps != got.MedianSteps {
		t.Errorf("%+v", got)
	}
	random := map[bool]int{}
	for _, g := range grades {
		t.Logf("%+v", g)
		if g.Agent == "macros" && (g.Solved != g.Tasks || g.Decisions != 1 || g.Calls < 3) {
			t.Errorf("%+v", g)
		}
		if g.Agent == "random" {
			random[g.Macros] += g.Solved
		}
	}
	if random[true] <= random[false] {
		t.Errorf("the random agent solved %d with macros, %d without", random[true], random[false])
	}
	if library.Len() > 6 {
		t.Errorf("%d macros for 4 levels: the same plan is not recognised", library.Len())
	}
}
