package parse

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// check compares an attempt that counts with the schema declared for exactly
// its name. Nothing is coerced: "5" is not 5. The error says that there are too
// few steps left, or is the context's; whether the arguments are valid is not known
// then.
func (r *Reader) check(ctx context.Context, a *Attempt, left *int) (err error) {
	valid := false
	a.SchemaValid = &valid
	d, ok := r.declared[a.Name]
	if !ok {
		a.Defects = with(a.Defects, DefectUnknownTool)
		return nil
	}
	if a.Violations, err = d.tool.ValidateWithin(ctx, left, a.Value); err != nil {
		a.SchemaValid = nil
		return err
	}
	valid = len(a.Violations) == 0
	for _, v := range a.Violations {
		if d := violationDefect(v.Keyword); d != DefectMissingRequired || !a.Has(DefectArgumentsMissing) {
			a.Defects = with(a.Defects, d)
		}
	}
	a.UnknownArguments = d.unknownArguments(a.Value, valid)
	if len(a.UnknownArguments) > 0 {
		a.Defects = with(a.Defects, DefectUnknownArgument)
	}
	if !valid && d.coercible(ctx, a.Value, a.Violations, left) {
		a.Coercible = true
		a.Defects = with(a.Defects, DefectCoercible)
	}
	return nil
}

func violationDefect(keyword string) Defect {
	switch keyword {
	case "type":
		return DefectTypeMismatch
	case "required", "dependentRequired":
		return DefectMissingRequired
	case "additionalProperties", "unevaluatedProperties":
		return DefectUnknownArgument
	}
	return DefectConstraint
}

// coercible reports whether the arguments would be valid if every value of the
// wrong type were written in the type that it plainly stands for: "5" for 5,
// "true" for true, and the other way round.
func (d *declared) coercible(ctx context.Context, value map[string]any, violations []tools.Violation, left *int) bool {
	const most = 64
	if len(violations) > most {
		return false
	}
	changed := copyValue(value)
	for _, v := range violations {
		if v.Keyword != "type" || !convertAt(changed, v.Pointer) {
			return false
		}
	}
	still, err := d.tool.ValidateWithin(ctx, left, changed)
	return err == nil && len(still) == 0
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = copyValue(item)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = copyValue(out[i])
		}
		return out
	}
	return value
}

// convertAt converts the scalar that a JSON pointer names.
func convertAt(value any, pointer string) bool {
	path := strictjson.Path(pointer)
	for i, key := range path {
		last := i == len(path)-1
		switch v := value.(type) {
		case map[string]any:
			if !last {
				value = v[key]
				continue
			}
			converted, ok := convert(v[key])
			v[key] = converted
			return ok
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n < 0 || n >= len(v) {
				return false
			}
			if !last {
				value = v[n]
				continue
			}
			converted, ok := convert(v[n])
			v[n] = converted
			return ok
		}
	}
	return false
}

// convert writes a scalar in the other type that it can stand for.
func convert(value any) (any, bool) {
	switch v := value.(type) {
	case json.Number:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	case string:
		switch read, err := strictjson.Decode([]byte(v)); read := read.(type) {
		case json.Number:
			return read, err == nil
		case bool:
			return read, err == nil
		}
	}
	return value, false
}
