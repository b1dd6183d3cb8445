package gridworld

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolgym/internal/episode"
	"toolgym/tools"
)

// Spec returns the description of the environment.
func Spec() tools.Spec {
	return tools.Spec{
		Name:        name,
		Description: "A grid to walk on: fetch the key, open the door, reach the goal.",
		Rules:       []string{tools.Sound, tools.Documented},
		Levels:      levels(tools.Sound),
		Tools:       toolsAt,
		NewTask:     newTask,
		New:         func() tools.Env { return &env{} },
		Oracle:      oracle{},
		Enumerate:   NewEnumerator,
	}
}

const name = "gridworld"

// levels returns the levels of a rule set, or nil for unknown rules.
func levels(rules string) []string {
	switch rules {
	case tools.Sound:
		return []string{"0", "1", "2", "3", "4"}
	case tools.Documented:
		return []string{"0"}
	}
	return nil
}

// limitedSight is the level with limited sight.
const limitedSight = "4"

// check returns an error for unknown rules or levels.
func check(rules, level string) error { return episode.CheckLevel(rules, level, levels) }

// Open starts an episode of the task of a seed. Unknown rules or levels are an
// [*tools.Error] with code Invalid.
func Open(rules, level string, seed uint64) (World, error) {
	if err := check(rules, level); err != nil {
		return World{}, err
	}
	if rules == tools.Documented {
		return NewDocumented(), nil
	}
	if level == "0" {
		return NewWorld(Published()), nil
	}
	shape := [...]Shape{{Size: 5}, {Size: 8, Boxes: 10}, {Size: 12, Boxes: 18, Wall: true}, {Size: 12, Boxes: 18, Wall: true, Sight: 2}}[level[0]-'1']
	l, err := Generate(Seeded(seed), shape)
	if err != nil {
		return World{}, err
	}
	return NewWorld(l), nil
}

// newTask returns a task with its prompt and its optimal length.
func newTask(rules, level string, seed uint64) (tools.Task, error) {
	w, err := Open(rules, level, seed)
	if err != nil {
		return tools.Task{}, err
	}
	l := w.layout
	text := fmt.Sprintf("You are at %v on a %dx%d grid. %sFetch the key, open the door, then reach the goal.",
		l.Start, l.Size, l.Size, describePlaces(&w))
	if l.Sight == 0 {
		text += obstacles(l)
	}
	return tools.Task{Prompt: []tools.Message{{Role: "user", Content: text}}, Optimal: l.optimal}, nil
}

// describePlaces describes the objects that are in sight.
func describePlaces(w *World) string {
	l := w.layout
	if l.Sight == 0 {
		return fmt.Sprintf("The key is at %v, the door at %v, the goal at %v. ", l.Key, l.Door, l.Goal)
	}
	return fmt.Sprintf("The goal is at %v. You see %d cells far, now: %s. Call look to see what is around you. ", l.Goal, l.Sight, w.describeSight())
}

// obstacles describes the boxes and the wall.
func obstacles(l *Layout) string {
	var b strings.Builder
	if len(l.Boxes) > 0 {
		b.WriteString(" Boxes at ")
		for i, box := range l.Boxes {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(box.String())
		}
		b.WriteString(".")
	}
	switch l.Wall {
	case RowWall:
		fmt.Fprintf(&b, " A wall fills the row y=%d; only the door's cell passes it.", l.Door.Y)
	case ColumnWall:
		fmt.Fprintf(&b, " A wall fills the column x=%d; only the door's cell passes it.", l.Door.X)
	}
	return b.String()
}

// oracle takes a shortest path. It knows the layout from the seed, even if sight is
// limited.
type oracle struct{}

var _ tools.Agent = oracle{}

func (oracle) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	w, err := Open(task.Rules, task.Level, task.Seed)
	if err != nil {
		return err
	}
	for _, action := range w.Path() {
		step, err := caller.Step(ctx, tools.Call{Name: action.String(), Arguments: json.RawMessage("{}")})
		if err != nil {
			return err
		}
		if step.Result.IsError {
			return fmt.Errorf("the oracle's call of %v failed: %s", action, step.Result.Content)
		}
	}
	return nil
}
