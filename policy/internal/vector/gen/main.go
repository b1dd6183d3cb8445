//go:build avo

package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	Package("toolgym/policy/internal/vector")
	ConstraintExpr("amd64")
	for rows := 1; rows <= tileRows; rows++ {
		tile(rows)
	}
	c := newConstants()
	exponential(c)
	cell(c)
	cellGrad(c)
	add()
	adam()
	Generate()
}
