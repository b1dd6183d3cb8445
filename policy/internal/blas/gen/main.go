//go:build avo

package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64")
	for _, w := range widths() {
		for rows := 1; rows <= w.rows; rows++ {
			tile(rows, w)
		}
	}
	c := newConstants()
	exponential(c)
	cell(c)
	cellGrad(c)
	add()
	adam()
	Generate()
}
