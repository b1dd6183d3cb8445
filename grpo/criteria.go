package grpo

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"

	"toolgym/internal/strictjson"
)

// A CriterionScore is one criterion's share of a reward: Reward is Value times
// Weight. Where Error is set the criterion could not be worked out, and both
// are null in JSON.
type CriterionScore struct {
	Name   string
	Value  float64
	Weight float64
	Reward float64
	Error  string
}

// Criteria are the criteria of one completion in the order of reports. Their
// JSON form is an object by name.
//
// Only the values are a completion's own: their names and weights are kept once
// for all completions that are paid alike.
type Criteria struct {
	heading *heading
	values  []float64
	errors  []string // why there is no value; nil where there are all
}

// CriteriaOf makes criteria of their scores. The rewards are worked out.
func CriteriaOf(scores ...CriterionScore) Criteria {
	h := newHeading(scores)
	c := h.blank(make([]float64, len(scores)))
	for i, score := range scores {
		c.values[i] = score.Value
		if score.Error != "" {
			c.fail(i, score.Error)
		}
	}
	return c
}

// Len is the number of criteria.
func (c Criteria) Len() int { return len(c.values) }

// All goes through the criteria in their order.
func (c Criteria) All() iter.Seq[CriterionScore] {
	return func(yield func(CriterionScore) bool) {
		for i := range c.values {
			if !yield(c.at(i)) {
				return
			}
		}
	}
}

// Named finds a criterion.
func (c Criteria) Named(name string) (CriterionScore, bool) {
	for score := range c.All() {
		if score.Name == name {
			return score, true
		}
	}
	return CriterionScore{}, false
}

// Equal reports whether both are the same criteria with the same values.
func (c Criteria) Equal(other Criteria) bool {
	return slices.Equal(slices.Collect(c.All()), slices.Collect(other.All()))
}

// String is the JSON form.
func (c Criteria) String() string { return string(c.appendTo(nil)) }

func (c Criteria) at(i int) CriterionScore {
	value, weight := c.values[i], c.heading.weights[i]
	return CriterionScore{Name: c.heading.names[i], Value: value, Weight: weight, Reward: value * weight, Error: c.errorAt(i)}
}

func (c Criteria) errorAt(i int) string {
	if c.errors == nil {
		return ""
	}
	return c.errors[i]
}

// fail says why a criterion has no value.
func (c *Criteria) fail(i int, reason string) {
	if c.errors == nil {
		c.errors = make([]string, len(c.values))
	}
	c.values[i], c.errors[i] = 0, reason
}

func (c *Criteria) set(m measure, value float64) { c.values[m] = value }

// flag sets a measure that is 1 or 0.
func (c *Criteria) flag(m measure, holds bool) {
	if holds {
		c.values[m] = 1
	}
}

// MarshalJSON writes the object by hand: it is the larger part of an answer,
// and names and numbers need no reflection.
func (c Criteria) MarshalJSON() ([]byte, error) { return c.appendTo(nil), nil }

func (c Criteria) appendTo(b []byte) []byte {
	if len(c.values) == 0 {
		return append(b, "{}"...)
	}
	for i, value := range c.values {
		l, reason := &c.heading.labels[i], c.errorAt(i)
		b = appendNumber(append(b, l.before...), value, reason == "")
		b = appendNumber(append(b, l.between...), value*c.heading.weights[i], reason == "")
		if reason != "" {
			text, _ := json.Marshal(reason) // a string always encodes
			b = append(append(b, `,"error":`...), text...)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendNumber writes a finite number as encoding/json does, or null.
func appendNumber(b []byte, f float64, known bool) []byte {
	if !known {
		return append(b, "null"...)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendInt(b, int64(f), 10)
	}
	format := byte('f')
	if a := math.Abs(f); a < 1e-6 || a >= 1e21 {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}

// UnmarshalJSON reads the object, its order kept.
func (c *Criteria) UnmarshalJSON(text []byte) error {
	members, _, err := strictjson.Defaults().Object(string(text))
	if err != nil {
		return fmt.Errorf("decoding criteria: %w", err)
	}
	scores := make([]CriterionScore, len(members))
	for i, m := range members {
		var read struct {
			Value, Weight *float64
			Reward        json.RawMessage // Value times Weight
			Error         string
		}
		if err := json.Unmarshal(text[m.Start:m.End], &read); err != nil {
			return fmt.Errorf("decoding criterion %s: %w", m.Key, err)
		}
		scores[i] = CriterionScore{Name: m.Key, Error: read.Error}
		if read.Value != nil {
			scores[i].Value = *read.Value
		}
		if read.Weight != nil {
			scores[i].Weight = *read.Weight
		}
	}
	*c = CriteriaOf(scores...)
	return nil
}
