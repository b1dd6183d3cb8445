package trl

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"toolgym/grpo"
)

// literal writes a value as a Python literal on one line: a text, a number, a
// truth value, nil, a list of texts or a rubric's criterion. A float stays one:
// 3 is written 3.0. What is not finite is a mistake of this package, since
// settings are validated.
func literal(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "None", nil
	case bool:
		return map[bool]string{true: "True", false: "False"}[v], nil
	case string:
		return quoted(v), nil
	case int:
		return strconv.Itoa(v), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	case float64:
		return float(v)
	case []string:
		texts := make([]string, len(v))
		for i, s := range v {
			texts[i] = quoted(s)
		}
		return "[" + strings.Join(texts, ", ") + "]", nil
	case grpo.Criterion:
		return criterion(v)
	}
	return "", fmt.Errorf("there is no Python literal for a %T", v)
}

// quoted is a text in double quotes. Go's escapes of valid UTF-8 (\n, \", \\,
// \x00, \u200b, \U0001f600, …) mean the same in Python, and everything that is
// not a printable character is escaped: no line ends, and no text turns around.
func quoted(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\uFFFD")) }

func float(v float64) (string, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "", fmt.Errorf("there is no Python literal for %v", v)
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text, nil
}

// criterion writes what the rubric's JSON has.
func criterion(c grpo.Criterion) (string, error) {
	weight, err := float(c.Weight)
	if err != nil {
		return "", err
	}
	fields := []string{`"weight": ` + weight}
	if c.Unit != "" {
		fields = append(fields, `"unit": `+quoted(c.Unit))
	}
	if c.Soft != 0 {
		fields = append(fields, `"soft": `+strconv.Itoa(c.Soft))
	}
	if c.Max != 0 {
		fields = append(fields, `"max": `+strconv.Itoa(c.Max))
	}
	if c.Formula != "" {
		fields = append(fields, `"formula": `+quoted(c.Formula))
	}
	return "{" + strings.Join(fields, ", ") + "}", nil
}
