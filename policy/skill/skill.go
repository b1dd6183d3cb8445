package skill

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"toolgym/tools"
)

// EmbeddingSize is the length of every embedding.
const EmbeddingSize = 8

// A Skill is a sequence of calls that did something once and can do it again.
type Skill struct {
	Name string `json:"name"`
	Env  string `json:"env"`
	// Rules is the rule set that the calls belong to; empty where they mean the
	// same under all.
	Rules string `json:"rules,omitempty"`
	// Preconditions are flags of the environment's state, and what each must be.
	Preconditions map[string]bool `json:"preconditions"`
	// Shape is what a task's expression must look like, with # for every number;
	// empty where the task's words do not matter.
	Shape   string       `json:"shape,omitempty"`
	Actions []tools.Call `json:"actions"`
	// Path holds, on a grid, where each action leads, as seen from the start.
	// Its cells must be free.
	Path []Offset `json:"path,omitempty"`
	// Gains is the flag that the last action sets: the next target lies at the
	// path's end. Empty for a skill that only leads somewhere.
	Gains     string    `json:"gains,omitempty"`
	Embedding []float64 `json:"embedding"` // EmbeddingSize numbers, of length 1

	SuccessCount int  `json:"success_count"` // executions that did what they should
	TimesUsed    int  `json:"times_used"`    // executions
	TimesFound   int  `json:"times_found"`   // extractions, of which all but the first were merged
	Retired      bool `json:"retired,omitempty"`
}

// An Offset is a way across the grid, in cells to the right and upwards.
type Offset [2]int

// UnmarshalJSON reads [1,-3], and nothing longer or shorter.
func (o *Offset) UnmarshalJSON(text []byte) error {
	var pair []int
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("an offset of %d numbers, want 2", len(pair))
	}
	*o = Offset(pair)
	return nil
}

func (o Offset) plus(p Offset) Offset  { return Offset{o[0] + p[0], o[1] + p[1]} }
func (o Offset) minus(p Offset) Offset { return Offset{o[0] - p[0], o[1] - p[1]} }

// end is where a skill leads: no way at all without a path.
func (s *Skill) end() Offset {
	if len(s.Path) == 0 {
		return Offset{}
	}
	return s.Path[len(s.Path)-1]
}

// sameEffect tells whether two skills do the same under the same conditions.
// With a shape, what is done depends on how arguments are filled in, so the
// calls must be the same too.
func (s *Skill) sameEffect(o *Skill) bool {
	return s.Env == o.Env && s.Rules == o.Rules && s.Shape == o.Shape && s.Gains == o.Gains && s.end() == o.end() &&
		len(s.Path) > 0 == (len(o.Path) > 0) && maps.Equal(s.Preconditions, o.Preconditions) &&
		(len(s.Path) > 0 || sameCalls(s.Actions, o.Actions))
}

func sameCalls(a, b []tools.Call) bool {
	return slices.EqualFunc(a, b, func(a, b tools.Call) bool { return a.Name == b.Name && string(a.Arguments) == string(b.Arguments) })
}

// rate is the share of executions that succeeded; 0 for a skill not used yet.
func (s *Skill) rate() float64 { return float64(s.SuccessCount) / float64(max(s.TimesUsed, 1)) }

// clone shares nothing with the skill.
func (s *Skill) clone() Skill {
	c := *s
	c.Preconditions = maps.Clone(s.Preconditions)
	c.Actions, c.Path, c.Embedding = slices.Clone(s.Actions), slices.Clone(s.Path), slices.Clone(s.Embedding)
	return c
}
