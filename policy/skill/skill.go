package skill

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

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

// The bounds of a skill. With its prefix a name is as long as the longest that
// all chat protocols take.
const (
	mostName    = 64 - len(Prefix)
	mostActions = 256
)

// unit is how far from 1 the length of an embedding may be.
const unit = 1e-6

func invalid(where, message, want string) error {
	return &tools.Error{Code: tools.Invalid, Where: where, Message: message, Want: want}
}

// Validate reports the first thing that a library can not hold, as an
// [*tools.Error], code Invalid, that names the field.
func (s *Skill) Validate() error {
	flags, known := flagsOf(s.Env)
	switch {
	case !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(s.Name) || len(s.Name) > mostName:
		return invalid("/name", fmt.Sprintf("the name %.80q", s.Name), fmt.Sprintf("at most %d lower-case letters, digits and _, a letter first", mostName))
	case !known:
		return invalid("/env", fmt.Sprintf("no skills are made for %.80q", s.Env), "gridworld or arithmetic")
	case s.Rules != "" && s.Rules != tools.Sound && s.Rules != tools.Documented:
		return invalid("/rules", fmt.Sprintf("unknown rules %.80q", s.Rules), "sound or documented, or none")
	case s.Gains != "" && !slices.Contains(flags, s.Gains):
		return invalid("/gains", fmt.Sprintf("%s has no flag %.80q", s.Env, s.Gains), oneOf(flags))
	case s.SuccessCount < 0 || s.TimesUsed < s.SuccessCount || s.TimesFound < 0:
		return invalid("/times_used", fmt.Sprintf("%d successes in %d uses, found %d times", s.SuccessCount, s.TimesUsed, s.TimesFound), "no negative counts, and no more successes than uses")
	}
	for _, flag := range slices.Sorted(maps.Keys(s.Preconditions)) {
		if !slices.Contains(flags, flag) {
			return invalid("/preconditions/"+flag, fmt.Sprintf("%s has no flag %.80q", s.Env, flag), oneOf(flags))
		}
	}
	if err := s.validateActions(); err != nil {
		return err
	}
	return validateEmbedding(s.Embedding)
}

func (s *Skill) validateActions() error {
	if len(s.Actions) == 0 || len(s.Actions) > mostActions {
		return invalid("/actions", fmt.Sprintf("%d actions", len(s.Actions)), fmt.Sprintf("1 to %d", mostActions))
	}
	for i, action := range s.Actions {
		if action.Name == "" || strings.HasPrefix(action.Name, Prefix) {
			return invalid(fmt.Sprintf("/actions/%d/name", i), fmt.Sprintf("the name %.80q", action.Name), "a tool of the environment")
		}
		var arguments map[string]any
		if err := json.Unmarshal(action.Arguments, &arguments); len(action.Arguments) > 0 && (err != nil || arguments == nil) {
			return invalid(fmt.Sprintf("/actions/%d/arguments", i), fmt.Sprintf("%.80q", action.Arguments), "a JSON object")
		}
	}
	if len(s.Path) != 0 && len(s.Path) != len(s.Actions) {
		return invalid("/path", fmt.Sprintf("%d places for %d actions", len(s.Path), len(s.Actions)), "one behind each action")
	}
	return nil
}

func validateEmbedding(v []float64) error {
	if len(v) != EmbeddingSize {
		return invalid("/embedding", fmt.Sprintf("%d numbers", len(v)), fmt.Sprint(EmbeddingSize))
	}
	length := math.Sqrt(dot(v, v))
	switch {
	case length == 0:
		return invalid("/embedding", "a zero vector, which is like nothing", "a vector of length 1")
	case !(math.Abs(length-1) <= unit): // NaN included
		return invalid("/embedding", fmt.Sprintf("a vector of length %g", length), "length 1")
	}
	return nil
}

func oneOf(flags []string) string {
	if len(flags) == 0 {
		return "none"
	}
	return "one of " + strings.Join(flags, ", ")
}

// normalise scales a vector to length 1; a zero vector stays what it is.
func normalise(v []float64) []float64 {
	length := math.Sqrt(dot(v, v))
	if length == 0 {
		return v
	}
	for i := range v {
		v[i] /= length
	}
	return v
}

// dot is the cosine similarity of vectors of length 1. The conversion keeps
// machines that could fuse product and sum from rounding differently.
func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// documentedEmbedding is the published one: the hashes of the agent's cell and
// of the first five actions, and the two flags, normalised. The published hash
// is another in every process; this one is FNV-1a with 64 bits.
func documentedEmbedding(at Offset, key, open bool, actions []tools.Call) []float64 {
	v := make([]float64, EmbeddingSize)
	v[0], v[1], v[2] = hashed(cell(at)), number(key), number(open)
	for i, action := range actions[:min(len(actions), EmbeddingSize-3)] {
		v[3+i] = hashed(action.Name)
	}
	return normalise(v)
}

func hashed(text string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // a hash takes everything
	return float64(h.Sum64()%1000) / 1000
}

func number(flag bool) float64 {
	if flag {
		return 1
	}
	return 0
}

// near is the distance, in cells, at which a feature is 1.
const near = 4

// features is the sound embedding: where the next target lies, the flags, and
// whether the straight ways to it are barred. A skill that leads somewhere
// without a target has its own end in the target's place, and no flags.
//
//	0, 1  the target's offset in cells / 4
//	2, 3  has_key, door_open
//	4     1 for a target, 0 for a mere way
//	5     √(1 + d²), d the distance to it in cells / 4
//	6, 7  1 where the next cell towards it is barred, along x and along y
func features(v *view, to Offset, target bool) []float64 {
	f := make([]float64, EmbeddingSize)
	f[0], f[1] = float64(to[0])/near, float64(to[1])/near
	f[5] = math.Hypot(1, float64(abs(to[0])+abs(to[1]))/near) // never 0, so that no vector is
	if target {
		f[2], f[3], f[4] = number(v.key), number(v.open), 1
	}
	f[6] = number(to[0] != 0 && !v.free(v.agent.plus(Offset{sign(to[0]), 0})))
	f[7] = number(to[1] != 0 && !v.free(v.agent.plus(Offset{0, sign(to[1])})))
	return normalise(f)
}

func abs(n int) int { return max(n, -n) }

func sign(n int) int { return max(-1, min(1, n)) }

// shapeEmbedding counts what stands in an expression, so that alike tasks are
// near each other.
func shapeEmbedding(shape string) []float64 {
	f := make([]float64, EmbeddingSize)
	f[7] = 1
	for _, r := range shape {
		switch r {
		case '*', '+', '-', '(':
			f[map[rune]int{'*': 0, '+': 1, '-': 2, '(': 3}[r]]++
		case '#':
			f[4]++
		case ')':
		default:
			f[5]++
		}
	}
	f[6] = hashed(shape)
	return normalise(f)
}
