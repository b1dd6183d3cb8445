package gridworld

import "slices"

// An Action is what the agent can do in a step.
type Action int

// The actions, in the order of the tools.
const (
	MoveUp Action = iota
	MoveDown
	MoveLeft
	MoveRight
	PickupKey
	OpenDoor
	Look // at levels with limited sight
	actions
)

// Wait is no action: it changes nothing and costs a step, as a call that the
// tools refuse does.
const Wait Action = -1

// String is the name of the action's tool, "wait" for what is no action.
func (a Action) String() string {
	if a < 0 || a >= actions {
		return "wait"
	}
	return [...]string{"move_up", "move_down", "move_left", "move_right", "pickup_key", "open_door", "look"}[a]
}

// direction is where a move leads; nowhere for the other actions.
func (a Action) direction() (dx, dy int) {
	switch a {
	case MoveUp:
		return 0, 1
	case MoveDown:
		return 0, -1
	case MoveLeft:
		return -1, 0
	case MoveRight:
		return 1, 0
	}
	return 0, 0
}

// The rewards of a step.
const (
	keyReward  = 1.0
	doorReward = 2.0
	goalReward = 10.0
	stepReward = -0.1
)

// leastLimit is the number of steps that an episode may take at the least.
const leastLimit = 50

// A World is an episode on a layout. It is a plain value: copy it to try
// something, compare it with ==.
type World struct {
	layout  *Layout
	place   place
	note    note
	repeats bool // the documented defect: open_door pays again and again
	steps   int
	limit   int
	done    bool
}

// NewWorld starts an episode of the sound rules: the door pays once, and the
// limit is five times the optimal length, 50 at the least.
func NewWorld(l *Layout) World {
	return World{layout: l, place: place{x: l.Start.X, y: l.Start.Y}, limit: max(leastLimit, 5*l.optimal)}
}

// NewDocumented starts an episode of the documented rules, defect included.
func NewDocumented() World {
	w := NewWorld(Published())
	w.repeats, w.limit = true, leastLimit
	return w
}

// Step carries an action out and returns its reward; done tells that the
// episode is over. A step after the end changes nothing.
func (w *World) Step(a Action) (reward float64, done bool) {
	if w.done {
		return 0, true
	}
	w.steps++
	before := w.place
	w.place, w.note = w.layout.next(before, a)
	reward = stepReward
	switch {
	case w.place.key && !before.key:
		reward = keyReward
	case w.place.open && !before.open:
		reward = doorReward
	case w.repeats && w.note == openAlready && w.place.key:
		reward, w.note = doorReward, nothingToSay
	}
	if w.Success() {
		reward, w.done = goalReward, true
	}
	w.done = w.done || w.steps == w.limit
	return reward, w.done
}

// Success reports that the goal is reached and the door open.
func (w *World) Success() bool { return w.place.open && w.place.atGoal(w.layout) }

// Layout is the grid of the world.
func (w *World) Layout() *Layout { return w.layout }

// Steps is the number of steps taken, Limit how many there may be.
func (w *World) Steps() int { return w.steps }

// Limit is the number of steps after which the episode is over.
func (w *World) Limit() int { return w.limit }

// A State is what every tool shows.
type State struct {
	Agent    Cell   `json:"agent"`
	HasKey   bool   `json:"has_key"`
	DoorOpen bool   `json:"door_open"`
	AtGoal   bool   `json:"at_goal"`
	Note     string `json:"note,omitempty"` // why the last action did nothing
}

// State shows the world as it stands.
func (w *World) State() State {
	p := w.place
	return State{Cell{p.x, p.y}, p.key, p.open, p.atGoal(w.layout), w.note.String()}
}

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
