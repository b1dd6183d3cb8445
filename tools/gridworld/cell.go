package gridworld

import (
	"cmp"
	"fmt"
)

// A Cell is a place on the grid. X grows to the right, Y upwards, both from 0.
type Cell struct{ X, Y int }

// String writes the cell as prompts do: (1,3).
func (c Cell) String() string { return fmt.Sprintf("(%d,%d)", c.X, c.Y) }

// MarshalJSON writes the cell as [1,3].
func (c Cell) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", c.X, c.Y), nil }

// compare orders cells by column, then row.
func compare(a, b Cell) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) }
