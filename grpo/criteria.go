package grpo

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"toolgym/internal/strictjson"
)

// A CriterionScore is one criterion's share of a reward: Value times Weight.
// Where Error is set the criterion could not be worked out, and both are null
// in JSON.
type CriterionScore struct {
	Name   string
	Value  float64
	Weight float64
	Reward float64
	Error  string
}

// Criteria are the criteria of one completion in the order of reports. Their
// JSON form is an object by name.
type Criteria []CriterionScore

// Named finds a criterion.
func (c Criteria) Named(name string) (CriterionScore, bool) {
	for _, score := range c {
		if score.Name == name {
			return score, true
		}
	}
	return CriterionScore{}, false
}

// MarshalJSON writes the object by hand: it is the larger part of an answer,
// and names and numbers need no reflection.
func (c Criteria) MarshalJSON() ([]byte, error) { return c.appendTo(nil), nil }

func (c Criteria) appendTo(b []byte) []byte {
	if len(c) == 0 {
		return append(b, "{}"...)
	}
	for i := range c {
		l := c[i].label(i == 0)
		b = c[i].appendTo(append(b, l.before...), l.between)
	}
	return append(b, '}')
}

// label writes the parts of the criterion's JSON that its name and weight make.
func (c *CriterionScore) label(first bool) label {
	before := []byte{','}
	if first {
		before[0] = '{'
	}
	name, _ := json.Marshal(c.Name) // a string always encodes
	before = append(append(before, name...), `:{"value":`...)
	return label{before, append(appendNumber([]byte(`,"weight":`), c.Weight, true), `,"reward":`...)}
}

// appendTo writes the rest of the criterion's JSON.
func (c *CriterionScore) appendTo(b, between []byte) []byte {
	b = appendNumber(b, c.Value, c.Error == "")
	b = appendNumber(append(b, between...), c.Reward, c.Error == "")
	if c.Error != "" {
		text, _ := json.Marshal(c.Error) // a string always encodes
		b = append(append(b, `,"error":`...), text...)
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
	*c = make(Criteria, len(members))
	for i, m := range members {
		var read struct {
			Value, Weight, Reward *float64
			Error                 string
		}
		if err := json.Unmarshal(text[m.Start:m.End], &read); err != nil {
			return fmt.Errorf("decoding criterion %s: %w", m.Key, err)
		}
		score := CriterionScore{Name: m.Key, Error: read.Error}
		for _, number := range []struct{ from, to *float64 }{{read.Value, &score.Value}, {read.Weight, &score.Weight}, {read.Reward, &score.Reward}} {
			if number.from != nil {
				*number.to = *number.from
			}
		}
		(*c)[i] = score
	}
	return nil
}
