package gridworld

import "slices"

// Path is a shortest way to the goal from where the world stands, found by
// breadth-first search over (cell, key, door). It is nil where there is none,
// or nothing is left to do.
func (w *World) Path() []Action {
	l := w.layout
	if w.Success() {
		return nil
	}
	states := 4 * l.Size * l.Size
	s := search{layout: l, queue: make([]int32, 0, states), parent: make([]int32, states), by: make([]int8, states)}
	s.reach(w.place, -1, Wait)
	for len(s.queue) > 0 {
		i := s.queue[0]
		s.queue = s.queue[1:]
		p := l.place(int(i))
		for a := MoveUp; a <= OpenDoor; a++ {
			q, _ := l.next(p, a)
			if s.reach(q, i, a) && q.open && q.atGoal(l) {
				return s.trace(q)
			}
		}
	}
	return nil
}

// A search keeps, for every state by its index, how it was reached first.
type search struct {
	layout *Layout
	queue  []int32
	parent []int32
	by     []int8 // the action, plus 2; 0 where the state was not reached yet
}

// reach notes a state and reports whether it is new.
func (s *search) reach(p place, parent int32, a Action) bool {
	i := p.index(s.layout)
	if s.by[i] != 0 {
		return false
	}
	s.parent[i], s.by[i] = parent, int8(a+2)
	s.queue = append(s.queue, int32(i))
	return true
}

// trace follows the search back from its end.
func (s *search) trace(p place) []Action {
	var path []Action
	for i := int32(p.index(s.layout)); s.parent[i] >= 0; i = s.parent[i] {
		path = append(path, Action(s.by[i]-2))
	}
	slices.Reverse(path)
	return path
}

// index numbers the states of a layout from 0; place is its inverse.
func (p place) index(l *Layout) int {
	i := 4 * (p.y*l.Size + p.x)
	if p.key {
		i += 2
	}
	if p.open {
		i++
	}
	return i
}

func (l *Layout) place(index int) place {
	cell := index / 4
	return place{x: cell % l.Size, y: cell / l.Size, key: index&2 != 0, open: index&1 != 0}
}

func (p place) atGoal(l *Layout) bool { return p.x == l.Goal.X && p.y == l.Goal.Y }
