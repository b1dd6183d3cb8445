package gridworld

import "toolgym/tools"

// Spec describes the environment.
func Spec() tools.Spec {
	return tools.Spec{
		Name:        name,
		Description: "A grid to walk on: fetch the key, open the door, reach the goal.",
		Rules:       []string{tools.Sound, tools.Documented},
		Levels:      levels(tools.Sound),
		Tools:       offered,
		NewTask:     newTask,
		New:         func() tools.Env { return &env{} },
		Oracle:      oracle{},
		Enumerate:   NewEnumerator,
	}
}
