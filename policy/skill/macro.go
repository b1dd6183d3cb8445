package skill

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"toolgym/tools"
)

// An expression is what an arithmetic task asks for.
type expression struct {
	shape    string   // with # for every number
	operands []string // the numbers, as written
}

// expressionOf reads a task's prompt; ok is false where nothing is to be
// computed.
func expressionOf(task tools.Task) (e expression, ok bool) {
	if len(task.Prompt) == 0 {
		return e, false
	}
	found := regexp.MustCompile(`Compute (\S+)\. `).FindStringSubmatch(task.Prompt[len(task.Prompt)-1].Content)
	if found == nil {
		return e, false
	}
	numbers := regexp.MustCompile(`\d+`)
	return expression{shape: numbers.ReplaceAllString(found[1], "#"), operands: numbers.FindAllString(found[1], -1)}, true
}

// extractMacro makes a macro of an episode that solved its task: its calls,
// with every number replaced by where it came from. Calls that failed are left
// out, and so are those on which the answer does not depend. There is no macro
// in an episode with a number from nowhere: it was computed in the head.
func extractMacro(t tools.Trajectory) ([]Skill, error) {
	e, ok := expressionOf(t.Task)
	if !t.Success || !ok {
		return nil, nil
	}
	w := newWriter(e.operands)
	for i, step := range t.Steps {
		if step.Call.Name == "" || step.Result.IsError {
			continue
		}
		if known, err := w.add(step); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		} else if !known {
			return nil, nil
		}
	}
	actions, err := w.needed(t.Task.Rules == tools.Sound)
	if err != nil {
		return nil, err
	}
	if len(actions) == 0 || len(actions) > mostActions {
		return nil, nil
	}
	return []Skill{{Name: macroName(actions), Env: arithmeticName, Rules: t.Task.Rules, Preconditions: map[string]bool{},
		Shape: e.shape, Actions: actions, Embedding: shapeEmbedding(e.shape), TimesFound: 1}}, nil
}

// macroName names the operations, and leaves out what only carries numbers.
func macroName(actions []tools.Call) string {
	words := []string{"answer_by"}
	for _, action := range actions {
		if !slices.Contains([]string{"answer", "store", "recall", "lookup"}, action.Name) {
			words = append(words, action.Name)
		}
	}
	name := strings.Join(words, "_")
	return name[:min(len(name), mostName)]
}
