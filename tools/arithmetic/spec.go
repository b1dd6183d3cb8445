package arithmetic

import "toolgym/tools"

const name = "arithmetic"

// Spec describes the environment.
func Spec() tools.Spec {
	return tools.Spec{
		Name:        name,
		Description: "Small computations, step by step, with tools that calculate exactly.",
		Rules:       []string{tools.Sound, tools.Documented},
		Levels:      levels(tools.Sound),
		Tools:       offered,
		NewTask:     newTask,
		New:         func() tools.Env { return &env{} },
		Oracle:      oracle{},
		Enumerate:   NewEnumerator,
	}
}
