package gridworld

import (
	"encoding/json"
	"fmt"
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// The tokens: the digits 0 to 9, the start of a plan, the six actions and the end of
// a plan. vocabulary is their number.
const (
	startOfPlan = 10 + iota
	firstAction
	lastAction = firstAction + 5
	endOfPlan  = lastAction + 1
	vocabulary = endOfPlan + 1
)

// enumerator encodes tasks and plans for the policy and plays them on a world.
type enumerator struct {
	world World
	over  bool // endOfPlan was played
}

var _ tools.Enumerator = (*enumerator)(nil)

// NewEnumerator returns the token interface of the environment, on which package
// policy trains. It has the levels 0 to 3; at level 4 a plan cannot be made in
// advance. The context has the coordinates of start, key, door, goal and boxes, x
// before y, each as one digit, or two if the grid has more than ten columns. If there
// is a wall, 0 (a row) or 1 (a column) comes before the boxes. Tokens without an
// action take a step.
func NewEnumerator() tools.Enumerator { return &enumerator{} }

// Start begins the task of a seed. Rules or levels that it does not have are an
// [*tools.Error] with code Invalid.
func (e *enumerator) Start(rules, level string, seed uint64) error {
	if level == limitedSight {
		return refusal.New("level", "0 to 3", "level 4 hides its layout, so that no plan can be made in advance")
	}
	w, err := Open(rules, level, seed)
	if err != nil {
		return err
	}
	e.world, e.over = w, false
	return nil
}

func (e *enumerator) Vocabulary() tools.Vocabulary {
	return tools.Vocabulary{Size: vocabulary, Start: startOfPlan, End: endOfPlan, FirstTool: firstAction, LastTool: lastAction}
}

func (e *enumerator) Token(token int) string {
	switch {
	case token < startOfPlan:
		return strconv.Itoa(token)
	case token == startOfPlan:
		return "[CTX]"
	case token == endOfPlan:
		return "[EOS]"
	}
	return tokenAction(token).String()
}

func (e *enumerator) Context(buf []int) []int {
	l := e.world.layout
	for _, c := range [...]Cell{l.Start, l.Key, l.Door, l.Goal} {
		buf = l.digits(buf, c)
	}
	if l.Wall != NoWall {
		buf = append(buf, int(l.Wall-RowWall))
	}
	for _, c := range l.Boxes {
		buf = l.digits(buf, c)
	}
	return buf
}

// digits appends a cell's coordinates.
func (l *Layout) digits(buf []int, c Cell) []int {
	if l.Size > 10 {
		return append(buf, c.X/10, c.X%10, c.Y/10, c.Y%10)
	}
	return append(buf, c.X, c.Y)
}

func (e *enumerator) Limit() int { return e.world.limit }

func (e *enumerator) Act(token int) (reward float64, done bool) {
	if token == endOfPlan {
		e.over = true
	}
	if e.over {
		return 0, true
	}
	return e.world.Step(tokenAction(token))
}

func (e *enumerator) Success() bool { return e.world.Success() }

// HasShortcut returns false, because the context determines a shortest path.
func (e *enumerator) HasShortcut() bool { return false }

// Calls translates a plan into tool calls, up to the end of the episode. Tokens
// without an action are left out.
func (e *enumerator) Calls(task tools.Task, plan []int) ([]tools.Call, error) {
	var w enumerator
	if err := w.Start(task.Rules, task.Level, task.Seed); err != nil {
		return nil, err
	}
	var calls []tools.Call
	done := false
	for i, token := range plan {
		if token < 0 || token > endOfPlan {
			return nil, refusal.New(fmt.Sprintf("/%d", i), "0 to 17", "unknown token %d", token)
		}
		if action := tokenAction(token); action != Wait && !done {
			calls = append(calls, tools.Call{Name: action.String(), Arguments: json.RawMessage("{}")})
		}
		if !done {
			_, done = w.Act(token)
		}
	}
	return calls, nil
}

// tokenAction returns the action of a token, or Wait.
func tokenAction(token int) Action {
	if token < firstAction || token > lastAction {
		return Wait
	}
	return Action(token - firstAction)
}
