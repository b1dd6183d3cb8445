package grpo

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"toolgym/internal/refusal"
)

// A Rubric says what a completion is paid for. A criterion that it does not
// name has weight 0.
type Rubric struct {
	Criteria map[string]Criterion `json:"criteria"`
}

// A Criterion is one thing that is paid for: its value times Weight is its
// share of the reward.
type Criterion struct {
	Weight float64 `json:"weight"`
	// Unit belongs to length: turn (the default; the value is the number of
	// assistant turns), token (the value rises from 0 at Soft tokens to 1 at
	// Max, DAPO's soft overlong ramp, arXiv:2503.14476 equation 13 with the
	// sign in the weight), or off (the value is 0).
	Unit string `json:"unit,omitempty"`
	Soft int    `json:"soft,omitempty"`
	Max  int    `json:"max,omitempty"`
	// Formula gives a criterion of the rubric's own its value: an expression
	// over the other criteria, turns, tokens and text (see the manual).
	Formula string `json:"formula,omitempty"`
}

// The units of length.
const (
	UnitTurn  = "turn"
	UnitToken = "token"
	UnitOff   = "off"
)

// DefaultRubric is the published reward lab's: an episode with full marks in
// three turns is worth 1 + 1.5 + 3 − 0.15 = 5.35.
func DefaultRubric() Rubric {
	return Rubric{Criteria: map[string]Criterion{
		CriterionFormat:     {Weight: 1},
		CriterionSchema:     {Weight: 1.5},
		CriterionCompletion: {Weight: 3},
		CriterionLength:     {Weight: -0.05, Unit: UnitTurn},
	}}
}

const maxCriteria = 64

// Validate says which field is wrong, and what would be right there.
func (r Rubric) Validate() error {
	_, err := r.compile()
	return err
}

// A clause is a criterion made ready for use.
type clause struct {
	Criterion
	name    string
	formula *formula // nil for the known criteria
}

// A tariff is a rubric made ready for use: all criteria, the known ones in the
// order of reports, named or not, then the rubric's own by name. It is safe for
// concurrent use.
type tariff struct {
	clauses []clause
	paid    []int // the clauses with a weight
	due     []int // those, and the ones that are still to be worked out: length and formulas
	heading *heading
}

// compile checks the rubric and makes it ready.
func (r Rubric) compile() (*tariff, error) {
	if len(r.Criteria) == 0 || len(r.Criteria) > maxCriteria {
		return nil, refusal.New("/criteria", fmt.Sprintf("between 1 and %d criteria", maxCriteria), "%d criteria", len(r.Criteria))
	}
	var clauses []clause
	for _, name := range criteria() {
		clauses = append(clauses, clause{name: name, Criterion: r.Criteria[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Criteria)) {
		if !known(name) {
			clauses = append(clauses, clause{name: name, Criterion: r.Criteria[name]})
		}
	}
	for i := range clauses {
		if err := clauses[i].check(); err != nil {
			return nil, refusal.Below("/criteria/"+clauses[i].name, err)
		}
	}
	t := &tariff{clauses: clauses}
	scores := make([]CriterionScore, len(clauses))
	for i, c := range clauses {
		scores[i] = CriterionScore{Name: c.name, Weight: c.Weight}
		if c.Weight != 0 {
			t.paid = append(t.paid, i)
		}
		if c.Weight != 0 || c.formula != nil || c.name == CriterionLength {
			t.due = append(t.due, i)
		}
	}
	t.heading = newHeading(scores)
	return t, nil
}

// ownName is what a rubric may call a criterion of its own; the name becomes
// part of a metric's.
var ownName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func (c *clause) check() error {
	if math.IsNaN(c.Weight) || math.IsInf(c.Weight, 0) {
		return refusal.New("/weight", "a finite number", "%v", c.Weight)
	}
	if c.name != CriterionLength && (c.Unit != "" || c.Soft != 0 || c.Max != 0) {
		return refusal.New("/unit", "unit, soft and max with length only", "%s has no unit", c.name)
	}
	switch {
	case known(c.name) && c.Formula != "":
		return refusal.New("/formula", "a name of its own for a criterion with a formula", "%s is worked out already", c.name)
	case known(c.name):
		return c.checkUnit()
	case !ownName.MatchString(c.name):
		return refusal.New("", "small letters, digits and _, at most 64", "the name %q", clip(c.name))
	case c.Formula == "":
		return refusal.New("", "one of "+strings.Join(criteria(), ", ")+", or a formula", "unknown criterion %q", c.name)
	}
	var err error
	c.formula, err = newFormula(c.Formula)
	return refusal.Below("/formula", err)
}

func (c *clause) checkUnit() error {
	switch c.Unit {
	case "", UnitTurn, UnitOff:
		if c.Soft != 0 || c.Max != 0 {
			return refusal.New("/unit", UnitToken, "soft and max are numbers of tokens")
		}
	case UnitToken:
		if c.Soft < 0 || c.Max <= c.Soft {
			return refusal.New("/max", "0 ≤ soft < max", "soft is %d and max %d", c.Soft, c.Max)
		}
	default:
		return refusal.New("/unit", "turn, token or off", "unknown unit %q", clip(c.Unit))
	}
	return nil
}

// ramp is the value of length by tokens: 0 up to soft, 1 from max on, and
// straight in between.
func (c *clause) ramp(tokens int) float64 {
	return min(1, max(0, float64(tokens-c.Soft)/float64(c.Max-c.Soft)))
}
