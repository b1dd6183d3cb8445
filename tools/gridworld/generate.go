package gridworld

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"toolgym/internal/refusal"
)

// A Shape is what a layout is drawn to.
type Shape struct {
	Size  int  // from LeastSize to MostSize
	Boxes int  // cells that can't be entered
	Wall  bool // a wall that only the door's cell passes
	Sight int  // how many cells far the agent sees; 0 means everything
}

// stream separates the draws of this environment from those of others that
// use the same seed.
const stream = 0x67726964776f726c // "gridworl"

// Seeded returns the source from which the task of a seed is drawn.
func Seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Published is the layout of the published version. Its box has no effect
// there, and no task names it; so this layout has none.
func Published() *Layout {
	l := &Layout{Size: 5, Key: Cell{2, 2}, Door: Cell{3, 3}, Goal: Cell{4, 4}}
	l.block()
	l.optimal = 10
	return l
}

// attempts bounds the draws of a layout that can be solved.
const attempts = 1000

// Generate draws a layout: places all different, proved solvable by
// breadth-first search. A shape out of bounds, or so crowded that no draw can be
// solved, is an [*tools.Error], code Invalid.
func Generate(r *rand.Rand, s Shape) (*Layout, error) {
	switch {
	case s.Size < LeastSize || s.Size > MostSize:
		return nil, refusal.New("shape", fmt.Sprintf("%d to %d", LeastSize, MostSize), "size %d", s.Size)
	case s.Boxes < 0 || s.Boxes > s.Size*s.Size:
		return nil, refusal.New("shape", "fewer boxes than cells", "%d boxes on %d cells", s.Boxes, s.Size*s.Size)
	case s.Sight < 0:
		return nil, refusal.New("shape", "0 for everything, or a number of cells", "sight %d", s.Sight)
	}
	for range attempts {
		l, ok := draw(r, s)
		if !ok {
			continue
		}
		w := NewWorld(l)
		if l.optimal = len(w.Path()); l.optimal > 0 {
			return l, nil
		}
	}
	return nil, refusal.New("shape", "fewer boxes", "%d boxes on a grid of size %d: no layout in %d draws can be solved", s.Boxes, s.Size, attempts)
}

// draw draws places without a look at whether they can be reached. It reports
// false when the cells do not suffice.
func draw(r *rand.Rand, s Shape) (*Layout, bool) {
	l := &Layout{Size: s.Size, Sight: s.Sight}
	d := drawer{random: r, layout: l}
	near, far := d.anywhere, d.anywhere
	if s.Wall {
		near, far = d.wall()
	} else {
		d.cells(d.anywhere, &l.Door)
	}
	d.cells(near, &l.Start, &l.Key)
	d.cells(far, &l.Goal)
	l.Boxes = make([]Cell, s.Boxes)
	boxes := make([]*Cell, s.Boxes)
	for i := range boxes {
		boxes[i] = &l.Boxes[i]
	}
	d.cells(d.anywhere, boxes...)
	slices.SortFunc(l.Boxes, compare)
	l.block()
	return l, !d.exhausted
}

// A drawer takes cells, each once.
type drawer struct {
	random    *rand.Rand
	layout    *Layout
	taken     [MostSize]uint64
	exhausted bool
}

func (d *drawer) below(n int) int { return int(d.random.Uint32N(uint32(n))) }

func (d *drawer) anywhere(c Cell) bool { return !d.layout.inWall(c) }

// wall draws the wall with the door in it, and returns its two sides.
func (d *drawer) wall() (near, far func(Cell) bool) {
	l := d.layout
	l.Wall = RowWall + Wall(d.below(2))
	line, gap := 1+d.below(l.Size-2), d.below(l.Size)
	across := func(c Cell) int { return c.Y }
	l.Door = Cell{gap, line}
	if l.Wall == ColumnWall {
		across = func(c Cell) int { return c.X }
		l.Door = Cell{line, gap}
	}
	d.taken[l.Door.Y] |= 1 << l.Door.X
	low := func(c Cell) bool { return across(c) < line }
	high := func(c Cell) bool { return across(c) > line }
	if d.below(2) == 0 {
		return low, high
	}
	return high, low
}

// cells draws from the cells that are left and wanted, all equally likely.
func (d *drawer) cells(wanted func(Cell) bool, places ...*Cell) {
	left := d.left(wanted)
	if len(left) < len(places) {
		d.exhausted = true
		return
	}
	for i, place := range places {
		j := i + d.below(len(left)-i)
		left[i], left[j] = left[j], left[i]
		*place = left[i]
		d.taken[place.Y] |= 1 << place.X
	}
}

// left lists the cells that are wanted and not taken, row by row.
func (d *drawer) left(wanted func(Cell) bool) []Cell {
	cells := make([]Cell, 0, d.layout.Size*d.layout.Size)
	for y := range d.layout.Size {
		for x := range d.layout.Size {
			if c := (Cell{x, y}); d.taken[y]>>x&1 == 0 && wanted(c) {
				cells = append(cells, c)
			}
		}
	}
	return cells
}
