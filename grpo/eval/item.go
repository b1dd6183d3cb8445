package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/tools"
)

// An Item is one task of an evaluation, with all that is needed to play and to
// grade it: a task of an environment, which judges by itself, or a question of
// the user's own with tools and what a right answer does.
type Item struct {
	Task     tools.Task      `json:"task"`
	Tools    tools.Set       `json:"tools"`
	Expected *match.Expected `json:"expected,omitempty"` // nil: the environment judges

	spec tools.Spec // of the environment
}

// EnvItem is the task of an environment as an item.
func EnvItem(spec tools.Spec, task tools.Task) Item {
	return Item{Task: task, Tools: spec.Tools(task.Rules, task.Level), spec: spec}
}

// Ask is a question with what a right answer does. The episode is over with
// the model's first message; its calls are compared and never run. What is
// expected must be possible with the tools. The error is a [*tools.Error] or the
// context's.
func Ask(ctx context.Context, task tools.Task, set tools.Set, expected match.Expected) (Item, error) {
	if err := set.Validate(); err != nil {
		return Item{}, err
	}
	plan, err := expected.CompileFor(ctx, match.Offer(set))
	if err != nil {
		return Item{}, err
	}
	task.NeedsNoCall = !plan.NeedsCall()
	return Item{Task: task, Tools: set, Expected: &expected}, nil
}

// Restore makes an item again from a run's plan. A task that its environment
// now makes differently is refused: trials of it could not be compared. Lists of
// tools that were compiled before are in known, by their texts, and those that are
// compiled now are added: the tasks of a run share them.
func Restore(ctx context.Context, specs tools.Specs, kept RunTask, known map[string]tools.Set) (Item, error) {
	var document struct {
		Task     tools.Task      `json:"task"`
		Tools    json.RawMessage `json:"tools"`
		Expected *match.Expected `json:"expected"`
	}
	if err := json.Unmarshal(kept.Document, &document); err != nil {
		return Item{}, fmt.Errorf("decoding the task %s: %w", kept.ID, err)
	}
	if document.Expected != nil {
		set, ok := known[string(document.Tools)]
		if !ok {
			if err := json.Unmarshal(document.Tools, &set); err != nil {
				return Item{}, fmt.Errorf("decoding the tools of %s: %w", kept.ID, err)
			}
			known[string(document.Tools)] = set
		}
		return Ask(ctx, document.Task, set, *document.Expected)
	}
	spec, task, err := specs.Task(kept.ID)
	if err != nil {
		return Item{}, err
	}
	item := EnvItem(spec, task)
	again, err := item.RunTask()
	if err == nil && again.Hash != kept.Hash {
		err = &tools.Error{Code: tools.Conflict, Where: kept.ID, Message: "the task is not what it was when the run began (prompt or tools have changed)", Want: "a new run"}
	}
	return item, err
}

// RunTask is the item as a run's plan holds it.
func (i Item) RunTask() (RunTask, error) {
	document, err := json.Marshal(i)
	if err != nil {
		return RunTask{}, fmt.Errorf("encoding the task %s: %w", i.Task.ID, err)
	}
	sum := sha256.Sum256(document)
	return RunTask{ID: i.Task.ID, Hash: "sha256:" + hex.EncodeToString(sum[:]), Document: document}, nil
}

// env makes what the item is played in.
func (i Item) env() tools.Env {
	if i.Expected != nil {
		return &question{set: i.Tools, task: i.Task}
	}
	return i.spec.New()
}

// group is the scorer's view of one completion of the item.
func (i Item) group(c grpo.Completion) grpo.Group {
	g := grpo.Group{ID: i.Task.ID, Completions: []grpo.Completion{c}}
	if i.Expected != nil {
		g.Tools, g.Expected = i.Tools, i.Expected
	} else {
		g.TaskID = i.Task.ID
	}
	return g
}
