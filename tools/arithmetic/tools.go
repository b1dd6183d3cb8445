package arithmetic

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"sync"

	"toolgym/internal/calculator"
	"toolgym/tools"
)

type operands struct {
	A json.Number `json:"a" jsonschema:"description=The left operand."`
	B json.Number `json:"b" jsonschema:"description=The right operand."`
}

type value struct {
	Value json.Number `json:"value" jsonschema:"description=A number."`
}

type lookupInput struct {
	Name string `json:"name" jsonschema:"description=The letter as the task writes it."`
}

type noArguments struct{}

type result struct {
	Result json.Number `json:"result"`
}

type stored struct {
	Stored json.Number `json:"stored"`
}

type accepted struct {
	Accepted bool `json:"accepted"`
}

// toolSets holds the tools of the environment. They are declared once; episodes
// bind them to their state.
type toolSets struct {
	typed, grounded, documented tools.Set

	store, recall, answer, lookup tools.Tool
}

var declared = sync.OnceValue(declare)

func declare() *toolSets {
	b := &toolSets{
		store:  tools.New[value, stored]("store", "Stores a number in the memory.", nil),
		recall: tools.New[noArguments, result]("recall", "Gives back the number that was stored last.", nil),
		answer: tools.New[value, accepted]("answer", "Hands in the final result and ends the task.", nil),
		lookup: tools.New[lookupInput, result]("lookup", "Gives the value of a letter of the task.", nil),
	}
	b.typed = tools.Set{
		binary("multiply", "Multiplies two numbers: a * b.", bounded((*big.Rat).Mul)),
		binary("add", "Adds two numbers: a + b.", bounded((*big.Rat).Add)),
		binary("subtract", "Subtracts two numbers: a - b.", bounded((*big.Rat).Sub)),
		binary("divide", "Divides two numbers: a / b.", calculator.Divide),
		b.store, b.recall, b.answer, calculator.Tool(),
	}
	b.grounded = slices.Concat(b.typed, tools.Set{b.lookup})
	for _, t := range [][2]string{
		{"multiply", "The first two operands' product, or the last value times the fourth operand."},
		{"add", "Adds the third operand to the last value."},
		{"subtract", "Subtracts the fourth operand from the last value."},
		{"answer", "Hands in the last value and ends the task."},
		{"store", "Marks the last value as stored."},
		{"recall", "Recalls what was stored."},
	} {
		b.documented = append(b.documented, tools.New[noArguments, machineState](t[0], t[1], nil))
	}
	b.documented = slices.Clip(b.documented) // the set is shared: an append must copy
	return b
}

// binary returns a tool with two operands.
func binary(name, description string, do func(a, b *big.Rat) (*big.Rat, error)) tools.Tool {
	return tools.New(name, description, func(_ context.Context, in operands) (result, error) {
		a, err := calculator.Exact(in.A)
		if err != nil {
			return result{}, err
		}
		b, err := calculator.Exact(in.B)
		if err != nil {
			return result{}, err
		}
		value, err := do(a, b)
		if err != nil {
			return result{}, err
		}
		return result{calculator.Decimal(value)}, nil
	})
}

// bounded returns the operation with a limit on the size of its result.
func bounded(do func(z, a, b *big.Rat) *big.Rat) func(a, b *big.Rat) (*big.Rat, error) {
	return func(a, b *big.Rat) (*big.Rat, error) { return calculator.Bounded(do(new(big.Rat), a, b)) }
}

// toolsAt returns the tools of a level. Empty names are the defaults; for unknown
// names it returns nil.
func toolsAt(rules, level string) tools.Set {
	switch {
	case !levelExists(rules, level):
		return nil
	case rules == tools.Documented:
		return declared().documented
	case level == grounded:
		return declared().grounded
	}
	return declared().typed
}
