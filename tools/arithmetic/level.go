package arithmetic

import (
	"math/rand/v2"
	"slices"

	"toolgym/internal/episode"
	"toolgym/tools"
)

// The levels beside the stages.
const (
	large     = "large"     // stage 2 with operands up to mostOperand
	restraint = "restraint" // no tool is needed
	grounded  = "grounded"  // stage 1 with letters to be looked up
)

const mostOperand = 1_000_000

// levels lists the levels of a rule set; nil for unknown rules.
func levels(rules string) []string {
	switch rules {
	case tools.Sound:
		return []string{"0", "1", "2", "3", "4", large, restraint, grounded}
	case tools.Documented:
		return []string{"0", "1", "2"}
	}
	return nil
}

// known tells whether the level exists under the rules; empty names stand for
// the defaults.
func known(rules, level string) bool {
	if rules == "" {
		rules = tools.Sound
	}
	return slices.Contains(levels(rules), level) || level == "" && levels(rules) != nil
}

// check refuses rules and levels that do not exist.
func check(rules, level string) error { return episode.Known(rules, level, levels) }

// problemOf draws the problem of a task, of any level but restraint.
func problemOf(level string, seed uint64) Problem {
	r := Seeded(seed)
	switch level {
	case large:
		return drawLarge(r)
	case grounded:
		return Draw(r, 1)
	}
	return Draw(r, int(level[0]-'0'))
}

func drawLarge(r *rand.Rand) Problem {
	p := Published(2, [5]int{})
	for i := range p.Operands {
		p.Operands[i] = int(r.Uint32N(mostOperand + 1))
	}
	return p
}

// newTask makes the prompt of a task.
func newTask(rules, level string, seed uint64) (tools.Task, error) {
	if err := check(rules, level); err != nil {
		return tools.Task{}, err
	}
	ask := func(text string) []tools.Message { return []tools.Message{{Role: "user", Content: text}} }
	if level == restraint {
		return tools.Task{Prompt: ask(smallTalk(Seeded(seed))), NeedsNoCall: true}, nil
	}
	p := problemOf(level, seed)
	if rules == tools.Documented {
		return tools.Task{
			Prompt:  ask("Compute " + p.Expression() + ". Use the tools, then call answer when the last value is the result."),
			Optimal: NewDocumented(p).shortest(),
		}, nil
	}
	return tools.Task{Prompt: ask("Compute " + written(level, p) + ". " + lookFirst(level) + "Use the tools, then call answer with the result.")}, nil
}

// written is the expression as the level shows it.
func written(level string, p Problem) string {
	if level == grounded {
		return p.write(letters())
	}
	return p.Expression()
}

func lookFirst(level string) string {
	if level == grounded {
		return "Look each letter up first. "
	}
	return ""
}

// letters name the operands where the task hides their values.
func letters() [5]string { return [5]string{"a", "b", "c", "d", "e"} }
