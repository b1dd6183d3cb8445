package gridworld

import "slices"

// An Action is an action of the agent.
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

// Wait takes a step and has no effect. It stands for an invalid call.
const Wait Action = -1

// String returns the name of the action's tool, or "wait".
func (a Action) String() string {
	if a < 0 || a >= actions {
		return "wait"
	}
	return [...]string{"move_up", "move_down", "move_left", "move_right", "pickup_key", "open_door", "look"}[a]
}

// direction returns the offset of a move, and 0, 0 for other actions.
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

// minLimit is the smallest step limit.
const minLimit = 50

// A World is an episode on a layout. It is a plain value: a copy is independent, and
// two worlds can be compared with ==.
type World struct {
	layout      *Layout
	agent       agentState
	note        note
	doorRepeats bool // defect 1 of the documented rules: every open_door is rewarded
	steps       int
	limit       int
	done        bool
}

// NewWorld starts an episode under the sound rules.
func NewWorld(l *Layout) World {
	return World{layout: l, agent: agentState{x: l.Start.X, y: l.Start.Y}, limit: max(minLimit, 5*l.optimal)}
}

// NewDocumented starts an episode under the documented rules.
func NewDocumented() World {
	w := NewWorld(Published())
	w.doorRepeats, w.limit = true, minLimit
	return w
}

// Step executes an action and returns its reward and whether the episode is over. A
// step after the end changes nothing.
func (w *World) Step(a Action) (reward float64, done bool) {
	if w.done {
		return 0, true
	}
	w.steps++
	before := w.agent
	w.agent, w.note = w.layout.next(before, a)
	reward = stepReward
	switch {
	case w.agent.key && !before.key:
		reward = keyReward
	case w.agent.open && !before.open:
		reward = doorReward
	case w.doorRepeats && w.note == openAlready && w.agent.key:
		reward, w.note = doorReward, noNote
	}
	if w.Success() {
		reward, w.done = goalReward, true
	}
	w.done = w.done || w.steps == w.limit
	return reward, w.done
}

// Success reports whether the agent is at the goal and the door is open.
func (w *World) Success() bool { return w.agent.open && w.agent.atGoal(w.layout) }

// Layout returns the layout of the world.
func (w *World) Layout() *Layout { return w.layout }

// Steps returns the number of steps taken.
func (w *World) Steps() int { return w.steps }

// Limit returns the number of steps after which the episode ends.
func (w *World) Limit() int { return w.limit }

// A State is the result of every tool.
type State struct {
	Agent    Cell   `json:"agent"`
	HasKey   bool   `json:"has_key"`
	DoorOpen bool   `json:"door_open"`
	AtGoal   bool   `json:"at_goal"`
	Note     string `json:"note,omitempty"` // why the last action had no effect
}

// State returns the present state of the world.
func (w *World) State() State {
	p := w.agent
	return State{Cell{p.x, p.y}, p.key, p.open, p.atGoal(w.layout), w.note.String()}
}

// Path returns a shortest path from the present state to success, found by
// breadth-first search over (cell, key, door). It returns nil if there is none or if
// the task is solved.
func (w *World) Path() []Action {
	l := w.layout
	if w.Success() {
		return nil
	}
	states := 4 * l.Size * l.Size
	s := search{layout: l, queue: make([]int32, 0, states), parent: make([]int32, states), by: make([]int8, states)}
	s.reach(w.agent, -1, Wait)
	for len(s.queue) > 0 {
		i := s.queue[0]
		s.queue = s.queue[1:]
		p := l.stateAt(int(i))
		for a := MoveUp; a <= OpenDoor; a++ {
			q, _ := l.next(p, a)
			if s.reach(q, i, a) && q.open && q.atGoal(l) {
				return s.trace(q)
			}
		}
	}
	return nil
}

// A search records for each state, by its index, how it was reached first.
type search struct {
	layout *Layout
	queue  []int32
	parent []int32
	by     []int8 // the action plus 2; 0 if the state has not been reached
}

// reach records a state and reports whether it is new.
func (s *search) reach(p agentState, parent int32, a Action) bool {
	i := p.index(s.layout)
	if s.by[i] != 0 {
		return false
	}
	s.parent[i], s.by[i] = parent, int8(a+2)
	s.queue = append(s.queue, int32(i))
	return true
}

// trace returns the actions that lead to a state.
func (s *search) trace(p agentState) []Action {
	var path []Action
	for i := int32(p.index(s.layout)); s.parent[i] >= 0; i = s.parent[i] {
		path = append(path, Action(s.by[i]-2))
	}
	slices.Reverse(path)
	return path
}

// index returns the number of a state, from 0. stateAt is its inverse.
func (p agentState) index(l *Layout) int {
	i := 4 * (p.y*l.Size + p.x)
	if p.key {
		i += 2
	}
	if p.open {
		i++
	}
	return i
}

func (l *Layout) stateAt(index int) agentState {
	cell := index / 4
	return agentState{x: cell % l.Size, y: cell / l.Size, key: index&2 != 0, open: index&1 != 0}
}

func (p agentState) atGoal(l *Layout) bool { return p.x == l.Goal.X && p.y == l.Goal.Y }
