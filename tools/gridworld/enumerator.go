package gridworld

import (
	"encoding/json"
	"fmt"
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// The vocabulary: the digits 0 to 9, the end of the context, the six actions and
// the end of a plan.
const (
	startOfPlan = 10 + iota
	firstAction
	lastAction = firstAction + 5
	endOfPlan  = lastAction + 1
	vocabulary = endOfPlan + 1
)

// enumerator plays the bare world for the policy.
type enumerator struct {
	world World
	over  bool // ended by endOfPlan
}

var _ tools.Enumerator = (*enumerator)(nil)

// NewEnumerator returns the environment as the policy sees it, at the levels 0
// to 3; a plan can't look around, which level 4 asks for. The context is
// the coordinates of start, key, door, goal and boxes, x before y, a digit each
// or two where the grid has more than ten columns. Where there is a wall, 0 (a
// row) or 1 (a column) stands before the boxes. Tokens without action cost a
// step.
func NewEnumerator() tools.Enumerator { return &enumerator{} }

// Start begins the task of a seed. Rules and levels that can't be planned are
// an [*tools.Error], code Invalid.
func (e *enumerator) Start(rules, level string, seed uint64) error {
	if level == hidden {
		return refusal.New("level", "0 to 3", "level 4 hides its layout, which no plan made in advance can know")
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

// Accidental is false: what a level teaches is a shortest way.
func (e *enumerator) HasShortcut() bool { return false }

// Calls translates a plan up to its end. Tokens without action are left out.
func (e *enumerator) Calls(task tools.Task, plan []int) ([]tools.Call, error) {
	var w enumerator
	if err := w.Start(task.Rules, task.Level, task.Seed); err != nil {
		return nil, err
	}
	var calls []tools.Call
	done := false
	for i, token := range plan {
		if token < 0 || token > endOfPlan {
			return nil, refusal.New(fmt.Sprintf("/%d", i), "0 to 17", "%d is no token", token)
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

func tokenAction(token int) Action {
	if token < firstAction || token > lastAction {
		return Wait
	}
	return Action(token - firstAction)
}
