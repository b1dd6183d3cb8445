package research

import (
	"sync"

	"toolgym/internal/calculator"
	"toolgym/tools"
)

const name = "research"

// Spec describes the environment.
func Spec() tools.Spec {
	return tools.Spec{
		Name:        name,
		Description: "Questions about share prices after quarterly reports, answered by searching and calculating.",
		Rules:       []string{tools.Sound},
		Levels:      levels(),
		Tools:       offered,
		NewTask:     newTask,
		New:         func() tools.Env { return &env{} },
		Oracle:      oracle{},
	}
}

// declared are the tools, made once for all episodes; the search comes first.
var declared = sync.OnceValue(func() tools.Set { return tools.Set{newSearch(), calculator.Tool()} })

// offered is the set of tools at a level, which is the same everywhere; empty
// names mean the defaults, and unknown ones have none.
func offered(rules, level string) tools.Set {
	if rules == "" {
		rules = tools.Sound
	}
	if level == "" {
		level = oneStock
	}
	if check(rules, level) != nil {
		return nil
	}
	return declared()
}
