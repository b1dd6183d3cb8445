package tools

import (
	"fmt"
	"math/big"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// outside reports the limit of a value that is too small or too large, with
// every digit. The validator's own words are "maximum: got 1×10⁰⁹, want 1×10⁰⁶",
// which rounds, and leaves open in which direction it would be right.
func outside(broken jsonschema.ErrorKind) (string, bool) {
	switch k := broken.(type) {
	case *kind.Minimum:
		return compared(k.Got, "at least", k.Want), true
	case *kind.Maximum:
		return compared(k.Got, "at most", k.Want), true
	case *kind.ExclusiveMinimum:
		return compared(k.Got, "more than", k.Want), true
	case *kind.ExclusiveMaximum:
		return compared(k.Got, "less than", k.Want), true
	case *kind.MultipleOf:
		return compared(k.Got, "a multiple of", k.Want), true
	case *kind.MinLength:
		return counted(k.Got, "characters", "at least", k.Want), true
	case *kind.MaxLength:
		return counted(k.Got, "characters", "at most", k.Want), true
	case *kind.MinItems:
		return counted(k.Got, "items", "at least", k.Want), true
	case *kind.MaxItems:
		return counted(k.Got, "items", "at most", k.Want), true
	case *kind.MinProperties:
		return counted(k.Got, "properties", "at least", k.Want), true
	case *kind.MaxProperties:
		return counted(k.Got, "properties", "at most", k.Want), true
	}
	return "", false
}

func counted(got int, what, relation string, want int) string {
	return fmt.Sprintf("got %d %s, want %s %d", got, what, relation, want)
}

func compared(got *big.Rat, relation string, want *big.Rat) string {
	return fmt.Sprintf("got %s, want %s %s", decimal(got), relation, decimal(want))
}

// decimal writes a number of a JSON text. Its denominator has no factors but 2
// and 5, so that it has an end; one of many digits is written in short.
func decimal(n *big.Rat) string {
	const longest = 40
	places, _ := n.FloatPrec()
	if text := n.FloatString(min(places, longest)); places <= longest && len(text) <= longest {
		return text
	}
	return new(big.Float).SetRat(n).Text('g', 17)
}
