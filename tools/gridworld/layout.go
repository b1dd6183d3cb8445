package gridworld

import (
	"cmp"
	"fmt"
)

// A Cell is a cell of the grid. X grows to the right, Y upwards, both from 0.
type Cell struct{ X, Y int }

// String returns the cell as in prompts, such as (1,3).
func (c Cell) String() string { return fmt.Sprintf("(%d,%d)", c.X, c.Y) }

// MarshalJSON encodes the cell as [1,3].
func (c Cell) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", c.X, c.Y), nil }

// compare orders cells by column, then by row.
func compare(a, b Cell) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) }

// The minimum and maximum size of a grid.
const (
	MinSize = 3
	MaxSize = 64
)

// A Wall is the direction of the wall, if there is one. It crosses the grid through
// the door's cell, which is its only gap.
type Wall int

// The walls.
const (
	NoWall Wall = iota
	RowWall
	ColumnWall
)

// A Layout is a grid with all its objects. It must not be changed, because worlds
// share it.
type Layout struct {
	Size                   int
	Start, Key, Door, Goal Cell
	Boxes                  []Cell // sorted by column, then by row
	Wall                   Wall
	Sight                  int // number of cells that the agent can see in each direction; 0 is unlimited

	blocked [MaxSize]uint64 // for each row, a bit for each column that cannot be entered
	barred  Action          // the move from the door's cell that needs an open door, or Wait
	optimal int
}

// Optimal returns the number of actions of a shortest solution.
func (l *Layout) Optimal() int { return l.optimal }

// derive sets the fields that depend on the others.
func (l *Layout) derive() {
	l.barred = Wait
	for _, box := range l.Boxes {
		l.blocked[box.Y] |= 1 << box.X
	}
	for i := range l.Size {
		switch {
		case l.Wall == RowWall && i != l.Door.X:
			l.blocked[l.Door.Y] |= 1 << i
		case l.Wall == ColumnWall && i != l.Door.Y:
			l.blocked[i] |= 1 << l.Door.X
		}
	}
	switch l.Wall {
	case RowWall:
		l.barred = map[bool]Action{true: MoveUp, false: MoveDown}[l.Goal.Y > l.Door.Y]
	case ColumnWall:
		l.barred = map[bool]Action{true: MoveRight, false: MoveLeft}[l.Goal.X > l.Door.X]
	}
}

// inWall reports whether the cell is part of the wall.
func (l *Layout) inWall(c Cell) bool {
	return c != l.Door && (l.Wall == RowWall && c.Y == l.Door.Y || l.Wall == ColumnWall && c.X == l.Door.X)
}

// passable reports whether the cell can be entered.
func (l *Layout) passable(x, y int) bool { return l.blocked[y]>>x&1 == 0 }

// agentState is the position of the agent and what it has done.
type agentState struct {
	x, y      int
	key, open bool
}

// next returns the state after an action, and a note if the action has no effect.
func (l *Layout) next(p agentState, a Action) (agentState, note) {
	switch a {
	case MoveUp, MoveDown, MoveLeft, MoveRight:
		return l.move(p, a)
	case PickupKey:
		switch {
		case p.key:
			return p, holdsKey
		case p.x != l.Key.X || p.y != l.Key.Y:
			return p, noKeyHere
		}
		p.key = true
	case OpenDoor:
		switch {
		case p.x != l.Door.X || p.y != l.Door.Y:
			return p, noDoorHere
		case p.open:
			return p, openAlready
		case !p.key:
			return p, needsKey
		}
		p.open = true
	}
	return p, noNote
}

// move returns the state after a move.
func (l *Layout) move(p agentState, a Action) (agentState, note) {
	dx, dy := a.direction()
	x, y := p.x+dx, p.y+dy
	switch {
	case uint(x) >= uint(l.Size) || uint(y) >= uint(l.Size):
		return p, atEdge
	case !l.passable(x, y):
		if l.inWall(Cell{x, y}) {
			return p, atWall
		}
		return p, atBox
	case a == l.barred && !p.open && p.x == l.Door.X && p.y == l.Door.Y:
		return p, doorClosed
	}
	p.x, p.y = x, y
	return p, noNote
}

// note is the reason why an action had no effect.
type note uint8

const (
	noNote note = iota
	atEdge
	atBox
	atWall
	doorClosed
	noKeyHere
	holdsKey
	noDoorHere
	needsKey
	openAlready
)

func (n note) String() string {
	return [...]string{"", "the edge of the grid is in the way", "a box is in the way", "the wall is in the way",
		"the door is closed: open it first", "the key is not here", "you hold the key already", "the door is not here",
		"the door opens only with the key", "the door is open already"}[n]
}
