package skill

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"toolgym/tools"
)

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
