package gridworld

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
