package gridworld

import (
	"cmp"
	"fmt"
)

// A Cell is a place on the grid. X grows to the right, Y upwards, both from 0.
type Cell struct{ X, Y int }

// String writes the cell as prompts do: (1,3).
func (c Cell) String() string { return fmt.Sprintf("(%d,%d)", c.X, c.Y) }

// MarshalJSON writes the cell as [1,3].
func (c Cell) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", c.X, c.Y), nil }

// compare orders cells by column, then row.
func compare(a, b Cell) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) }

// The sizes that a grid can have.
const (
	LeastSize = 3
	MostSize  = 64
)

// A Wall says how the wall lies, if there is one. It runs from side to side
// through the door's cell, which is its only gap.
type Wall int

// The walls.
const (
	NoWall Wall = iota
	RowWall
	ColumnWall
)

// A Layout is a grid with everything in its place. It is never changed, so that
// any number of worlds share one.
type Layout struct {
	Size                   int
	Start, Key, Door, Goal Cell
	Boxes                  []Cell // in order of their columns
	Wall                   Wall
	Sight                  int // how many cells far the agent sees; 0 means everything

	blocked [MostSize]uint64 // for each row, a bit for each column that can't be entered
	closed  Action           // the move from the door's cell that a closed door bars
	optimal int
}

// Optimal is the number of actions of a shortest solution.
func (l *Layout) Optimal() int { return l.optimal }

// block fills in what is derived from the places.
func (l *Layout) block() {
	l.closed = Wait
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
		l.closed = map[bool]Action{true: MoveUp, false: MoveDown}[l.Goal.Y > l.Door.Y]
	case ColumnWall:
		l.closed = map[bool]Action{true: MoveRight, false: MoveLeft}[l.Goal.X > l.Door.X]
	}
}

// inWall tells whether the cell is part of the wall.
func (l *Layout) inWall(c Cell) bool {
	return c != l.Door && (l.Wall == RowWall && c.Y == l.Door.Y || l.Wall == ColumnWall && c.X == l.Door.X)
}

// free tells whether the cell can be entered.
func (l *Layout) free(x, y int) bool { return l.blocked[y]>>x&1 == 0 }

// place is where the agent is and what it has done: the state of a world.
type place struct {
	x, y      int
	key, open bool
}

// next is the place that an action leads to, and a note where it leads nowhere.
func (l *Layout) next(p place, a Action) (place, note) {
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
	return p, nothingToSay
}

func (l *Layout) move(p place, a Action) (place, note) {
	dx, dy := a.direction()
	x, y := p.x+dx, p.y+dy
	switch {
	case uint(x) >= uint(l.Size) || uint(y) >= uint(l.Size):
		return p, atEdge
	case !l.free(x, y):
		if l.inWall(Cell{x, y}) {
			return p, atWall
		}
		return p, atBox
	case a == l.closed && !p.open && p.x == l.Door.X && p.y == l.Door.Y:
		return p, doorClosed
	}
	p.x, p.y = x, y
	return p, nothingToSay
}

// note says why an action did nothing.
type note uint8

const (
	nothingToSay note = iota
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
