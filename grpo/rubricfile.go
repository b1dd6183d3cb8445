package grpo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
)

// maxRubricSize bounds a rubric file: 64 formulas of 2,000 bytes, and comments. The
// time that YAML takes grows with the square of its anchors.
const maxRubricSize = 256 << 10

// ParseRubric reads a rubric file, YAML or JSON. Unknown fields, wrong types
// and weights that are not finite are refused with the place and with what
// would be right there. The rubric that is returned is valid.
func ParseRubric(text []byte) (Rubric, error) {
	if len(text) > maxRubricSize {
		return Rubric{}, refusal.New("", fmt.Sprintf("a rubric of at most %d bytes", maxRubricSize), "%d bytes", len(text))
	}
	var value any
	var err error
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		value, err = strictjson.Decode(trimmed)
	} else {
		value, err = readYAML(text)
	}
	if err != nil {
		return Rubric{}, refusal.New("", "a rubric in YAML or JSON", "%v", err)
	}
	r, err := rubricOf(value)
	if err != nil {
		return Rubric{}, err
	}
	return r, r.Validate()
}

// readYAML reads the one document of a YAML text.
func readYAML(text []byte) (value any, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&value); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document")
	}
	return value, nil
}

// UnmarshalJSON reads a rubric as strictly as [ParseRubric] does. Whether it
// makes sense is for [Rubric.Validate] to say.
func (r *Rubric) UnmarshalJSON(text []byte) error {
	value, err := strictjson.Decode(text)
	if err != nil {
		return refusal.New("", "a rubric", "%v", err)
	}
	*r, err = rubricOf(value)
	return err
}

func rubricOf(value any) (Rubric, error) {
	r := Rubric{Criteria: map[string]Criterion{}}
	err := eachField(value, func(field string, value any) error {
		if field != "criteria" {
			return unknownField(field, "criteria")
		}
		return eachField(value, func(name string, value any) error {
			c, err := criterionOf(value)
			r.Criteria[name] = c
			return err
		})
	})
	return r, err
}

func criterionOf(value any) (c Criterion, err error) {
	err = eachField(value, func(field string, value any) (err error) {
		switch field {
		case "weight":
			c.Weight, err = numberOf(value)
		case "unit":
			c.Unit, err = textOf(value)
		case "soft":
			c.Soft, err = countOf(value)
		case "max":
			c.Max, err = countOf(value)
		case "formula":
			c.Formula, err = textOf(value)
		default:
			err = unknownField(field, "weight, unit, soft, max or formula")
		}
		return err
	})
	return c, err
}

func unknownField(field, want string) error {
	return refusal.New("", want, "unknown field %q", clip(field))
}

// eachField calls f for each field of an object in order of the names, and
// says in its errors which field it was.
func eachField(value any, f func(field string, value any) error) error {
	fields, ok := value.(map[string]any)
	if !ok {
		return refusal.New("", "an object", "%s", describe(value))
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if err := f(field, fields[field]); err != nil {
			return refusal.Below("/"+clip(field), err)
		}
	}
	return nil
}

// numberOf reads what strictjson or YAML makes of a number.
func numberOf(value any) (float64, error) {
	var f float64
	switch v := value.(type) {
	case json.Number:
		parsed, err := v.Float64()
		if err != nil {
			return 0, refusal.New("", "a finite number", "%s", clip(string(v)))
		}
		f = parsed
	case float64:
		f = v
	case int:
		f = float64(v)
	default:
		return 0, refusal.New("", "a finite number", "%s", describe(value))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, refusal.New("", "a finite number", "%v", f)
	}
	return f, nil
}

func countOf(value any) (int, error) {
	f, err := numberOf(value)
	if err != nil || f != math.Trunc(f) || f < 0 || f > math.MaxInt32 {
		return 0, refusal.New("", "a whole number of tokens", "%s", describe(value))
	}
	return int(f), nil
}

func textOf(value any) (string, error) {
	text, ok := value.(string)
	if !ok {
		return "", refusal.New("", "a text", "%s", describe(value))
	}
	return text, nil
}

// describe names a value of the wrong type in a few words.
func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the text %q", clip(v))
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return clip(fmt.Sprint(value))
}

// clip bounds what is quoted back.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
