package skill

import "slices"

// A State is what preconditions are compared with.
type State struct {
	Env   string
	Rules string
	Shape string          // of the task's expression, where there is one
	Flags map[string]bool // an absent flag is false
}

// The flags of the gridworld's state.
const (
	hasKey   = "has_key"
	doorOpen = "door_open"
	atGoal   = "at_goal"
)

const (
	gridworldName  = "gridworld"
	arithmeticName = "arithmetic"
)

// flagsOf lists the flags that an environment's state has; ok is false for an
// environment that skills are not made for.
func flagsOf(env string) (flags []string, ok bool) {
	switch env {
	case gridworldName:
		return []string{hasKey, doorOpen, atGoal}, true
	case arithmeticName:
		return nil, true
	}
	return nil, false
}

// A condition is a skill's preconditions, compiled: comparing it costs no look
// into a map.
type condition struct {
	env, rules, shape string
	mask, want        uint8 // a bit for each flag
	retired           bool
}

func compile(s *Skill) condition {
	c := condition{env: s.Env, rules: s.Rules, shape: s.Shape, retired: s.Retired}
	flags, _ := flagsOf(s.Env)
	for flag, want := range s.Preconditions {
		bit := uint8(1) << slices.Index(flags, flag)
		c.mask |= bit
		if want {
			c.want |= bit
		}
	}
	return c
}

// bits are the state's flags in the order of flagsOf.
func (s State) bits() (bits uint8) {
	flags, _ := flagsOf(s.Env)
	for i, flag := range flags {
		if s.Flags[flag] {
			bits |= 1 << i
		}
	}
	return bits
}

// holds tells whether the skill is in use and its condition met in a state with
// the given bits.
func (c *condition) holds(s *State, bits uint8) bool {
	return bits&c.mask == c.want && !c.retired && c.env == s.Env && (c.rules == "" || c.rules == s.Rules) && (c.shape == "" || c.shape == s.Shape)
}
