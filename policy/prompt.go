package policy

import (
	"fmt"
	"strconv"

	"toolgym/internal/refusal"
	"toolgym/policy/internal/network"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// Prompt is a task as the network sees it. Tokens are the 18 of package
// arithmetic, where digits stand for themselves.
type Prompt struct {
	Context []int // with its closing [CTX]
	Stage   int
}

// Read takes over the task that an Enumerator began, in the memory that p has.
// Levels are stages: a level that is no number is an [*tools.Error].
func (p *Prompt) Read(env tools.Enumerator, level string) error {
	stage, err := strconv.Atoi(level)
	if err != nil {
		return refusal.New("stages", "a number", "unknown stage %q", level)
	}
	p.Context, p.Stage = append(env.Context(p.Context[:0]), arithmetic.Ctx), stage
	return nil
}

// load writes prompts into a forward pass, after checking them.
func (c Config) load(f *network.Forward[float32], prompts []Prompt) error {
	for b, p := range prompts {
		if err := c.check(b, p); err != nil {
			return err
		}
		row := f.Contexts[b*c.Context : (b+1)*c.Context]
		for i := range row {
			row[i] = -1
		}
		copy(row, p.Context)
		f.Stages[b] = p.Stage
	}
	return nil
}

func (c Config) check(b int, p Prompt) error {
	if p.Stage < 0 || p.Stage >= c.Stages {
		return refusal.New(fmt.Sprintf("/%d/stage", b), fmt.Sprintf("0 to %d", c.Stages-1), "unknown stage %d", p.Stage)
	}
	if n := len(p.Context); n < 1 || n > c.Context {
		return refusal.New(fmt.Sprintf("/%d/context", b), fmt.Sprintf("1 to %d tokens", c.Context), "%d tokens", n)
	}
	for i, token := range p.Context {
		if token < 0 || token >= arithmetic.Vocabulary {
			return refusal.New(fmt.Sprintf("/%d/context/%d", b, i), fmt.Sprintf("0 to %d", arithmetic.Vocabulary-1), "%d is no token", token)
		}
	}
	return nil
}
