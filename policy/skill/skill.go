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

// A Skill is a sequence of calls that had an effect once and can have it again.
type Skill struct {
	Name string `json:"name"`
	Env  string `json:"env"`
	// Rules is the rule set of the calls; empty if they mean the same under all.
	Rules string `json:"rules,omitempty"`
	// Preconditions are flags of the environment's state, and what each must be.
	Preconditions map[string]bool `json:"preconditions"`
	// Shape is the required form of the task's expression, with # for every number;
	// empty if any task will do.
	Shape   string       `json:"shape,omitempty"`
	Actions []tools.Call `json:"actions"`
	// Path has, on a grid, the displacement after each action. Its cells must be
	// free.
	Path []Offset `json:"path,omitempty"`
	// Gains is the flag that the last action sets: the next target is at the end of
	// the path. Empty for a skill that only moves.
	Gains     string    `json:"gains,omitempty"`
	Embedding []float64 `json:"embedding"` // EmbeddingSize numbers, of length 1

	SuccessCount int  `json:"success_count"` // successful executions
	TimesUsed    int  `json:"times_used"`    // executions
	TimesFound   int  `json:"times_found"`   // extractions; all but the first were merged
	Retired      bool `json:"retired,omitempty"`
}

// An Offset is a displacement on the grid, in cells to the right and upwards.
type Offset [2]int

// UnmarshalJSON decodes a pair such as [1,-3].
func (o *Offset) UnmarshalJSON(text []byte) error {
	var pair []int
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("got an offset of %d numbers; expected 2", len(pair))
	}
	*o = Offset(pair)
	return nil
}

func (o Offset) plus(p Offset) Offset  { return Offset{o[0] + p[0], o[1] + p[1]} }
func (o Offset) minus(p Offset) Offset { return Offset{o[0] - p[0], o[1] - p[1]} }

// end returns the displacement of a skill; zero without a path.
func (s *Skill) end() Offset {
	if len(s.Path) == 0 {
		return Offset{}
	}
	return s.Path[len(s.Path)-1]
}

// sameEffect reports whether two skills have the same effect under the same
// conditions. With a shape the effect depends on the arguments, so the calls
// must be equal too.
func (s *Skill) sameEffect(o *Skill) bool {
	return s.Env == o.Env && s.Rules == o.Rules && s.Shape == o.Shape && s.Gains == o.Gains && s.end() == o.end() &&
		len(s.Path) > 0 == (len(o.Path) > 0) && maps.Equal(s.Preconditions, o.Preconditions) &&
		(len(s.Path) > 0 || sameCalls(s.Actions, o.Actions))
}

func sameCalls(a, b []tools.Call) bool {
	return slices.EqualFunc(a, b, func(a, b tools.Call) bool { return a.Name == b.Name && string(a.Arguments) == string(b.Arguments) })
}

// rate returns the share of successful executions; 0 for an unused skill.
func (s *Skill) rate() float64 { return float64(s.SuccessCount) / float64(max(s.TimesUsed, 1)) }

// clone returns a deep copy.
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
	Shape string          // of the task's expression, if it has one
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

// flagsOf returns the flags of an environment's state; ok is false for an
// environment without skills.
func flagsOf(env string) (flags []string, ok bool) {
	switch env {
	case gridworldName:
		return []string{hasKey, doorOpen, atGoal}, true
	case arithmeticName:
		return nil, true
	}
	return nil, false
}

// A condition is a skill's preconditions, compiled so that comparing them needs
// no map lookup.
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

// bits returns the flags in the order of flagsOf.
func (s State) bits() (bits uint8) {
	flags, _ := flagsOf(s.Env)
	for i, flag := range flags {
		if s.Flags[flag] {
			bits |= 1 << i
		}
	}
	return bits
}

// holds reports whether the skill is not retired and its condition holds in a
// state with the given bits.
func (c *condition) holds(s *State, bits uint8) bool {
	return bits&c.mask == c.want && !c.retired && c.env == s.Env && (c.rules == "" || c.rules == s.Rules) && (c.shape == "" || c.shape == s.Shape)
}

// The bounds of a skill. With its prefix a name has at most the length that all
// chat protocols allow.
const (
	mostName    = 64 - len(Prefix)
	mostActions = 256
)

// unitTolerance is the allowed difference of an embedding's length from 1.
const unitTolerance = 1e-6

func invalid(where, message, want string) error {
	return &tools.Error{Code: tools.Invalid, Where: where, Message: message, Want: want}
}

// Validate returns the first invalid field as a [*tools.Error] with code
// invalid.
func (s *Skill) Validate() error {
	flags, known := flagsOf(s.Env)
	switch {
	case !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(s.Name) || len(s.Name) > mostName:
		return invalid("/name", fmt.Sprintf("invalid name %.80q", s.Name), fmt.Sprintf("at most %d lower-case letters, digits and _, a letter first", mostName))
	case !known:
		return invalid("/env", fmt.Sprintf("no skills for environment %.80q", s.Env), "gridworld or arithmetic")
	case s.Rules != "" && s.Rules != tools.Sound && s.Rules != tools.Documented:
		return invalid("/rules", fmt.Sprintf("unknown rules %.80q", s.Rules), "sound or documented, or none")
	case s.Gains != "" && !slices.Contains(flags, s.Gains):
		return invalid("/gains", fmt.Sprintf("%s has no flag %.80q", s.Env, s.Gains), oneOf(flags))
	case s.SuccessCount < 0 || s.TimesUsed < s.SuccessCount || s.TimesFound < 0:
		return invalid("/times_used", fmt.Sprintf("got %d successes in %d uses, found %d times", s.SuccessCount, s.TimesUsed, s.TimesFound), "counts of at least 0, and at most as many successes as uses")
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
		return invalid("/actions", fmt.Sprintf("got %d actions", len(s.Actions)), fmt.Sprintf("1 to %d", mostActions))
	}
	for i, action := range s.Actions {
		if action.Name == "" || strings.HasPrefix(action.Name, Prefix) {
			return invalid(fmt.Sprintf("/actions/%d/name", i), fmt.Sprintf("invalid name %.80q", action.Name), "a tool of the environment")
		}
		var arguments map[string]any
		if err := json.Unmarshal(action.Arguments, &arguments); len(action.Arguments) > 0 && (err != nil || arguments == nil) {
			return invalid(fmt.Sprintf("/actions/%d/arguments", i), fmt.Sprintf("got %.80q", action.Arguments), "a JSON object")
		}
	}
	if len(s.Path) != 0 && len(s.Path) != len(s.Actions) {
		return invalid("/path", fmt.Sprintf("got %d places for %d actions", len(s.Path), len(s.Actions)), "one per action")
	}
	return nil
}

func validateEmbedding(v []float64) error {
	if len(v) != EmbeddingSize {
		return invalid("/embedding", fmt.Sprintf("got %d numbers", len(v)), fmt.Sprintf("%d numbers", EmbeddingSize))
	}
	length := math.Sqrt(dot(v, v))
	switch {
	case length == 0:
		return invalid("/embedding", "got a zero vector", "a vector of length 1")
	case !(math.Abs(length-1) <= unitTolerance): // NaN included
		return invalid("/embedding", fmt.Sprintf("got a vector of length %g", length), "a vector of length 1")
	}
	return nil
}

func oneOf(flags []string) string {
	if len(flags) == 0 {
		return "none"
	}
	return "one of " + strings.Join(flags, ", ")
}

// normalize scales a vector to length 1; a zero vector is unchanged.
func normalize(v []float64) []float64 {
	length := math.Sqrt(dot(v, v))
	if length == 0 {
		return v
	}
	for i := range v {
		v[i] /= length
	}
	return v
}

// dot returns the cosine similarity of vectors of length 1. The conversion
// prevents fused multiply-add, so that all machines round equally.
func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// documentedEmbedding is the published embedding: hashes of the agent's cell
// and of the first five actions, and the two flags, normalized. The published
// hash differs between processes; this one is FNV-1a with 64 bits.
func documentedEmbedding(at Offset, key, open bool, actions []tools.Call) []float64 {
	v := make([]float64, EmbeddingSize)
	v[0], v[1], v[2] = hashed(cell(at)), number(key), number(open)
	for i, action := range actions[:min(len(actions), EmbeddingSize-3)] {
		v[3+i] = hashed(action.Name)
	}
	return normalize(v)
}

func hashed(text string) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return float64(h.Sum64()%1000) / 1000
}

func number(flag bool) float64 {
	if flag {
		return 1
	}
	return 0
}

// near is the distance in cells at which a feature is 1.
const near = 4

// features is the sound embedding: the offset of the next target, the flags,
// and whether the direct ways to it are blocked. For a skill that only moves,
// its end takes the place of the target, and the flags are 0.
//
//	0, 1  the target's offset in cells / 4
//	2, 3  has_key, door_open
//	4     1 for a target, 0 for a move
//	5     √(1 + d²), d the distance in cells / 4
//	6, 7  1 if the next cell towards it is blocked, along x and along y
func features(v *gridView, to Offset, target bool) []float64 {
	f := make([]float64, EmbeddingSize)
	f[0], f[1] = float64(to[0])/near, float64(to[1])/near
	f[5] = math.Hypot(1, float64(abs(to[0])+abs(to[1]))/near) // never 0, so no vector is zero
	if target {
		f[2], f[3], f[4] = number(v.key), number(v.open), 1
	}
	f[6] = number(to[0] != 0 && !v.free(v.agent.plus(Offset{sign(to[0]), 0})))
	f[7] = number(to[1] != 0 && !v.free(v.agent.plus(Offset{0, sign(to[1])})))
	return normalize(f)
}

func abs(n int) int { return max(n, -n) }

func sign(n int) int { return max(-1, min(1, n)) }

// shapeEmbedding counts the operators of an expression, so that similar tasks
// are close to each other.
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
	return normalize(f)
}
