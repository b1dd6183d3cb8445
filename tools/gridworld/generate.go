package gridworld

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"toolgym/internal/refusal"
)

// A Shape is the kind of layout to generate.
type Shape struct {
	Size  int  // from MinSize to MaxSize
	Boxes int  // number of cells that cannot be entered
	Wall  bool // whether a wall crosses the grid at the door
	Sight int  // number of cells that the agent can see in each direction; 0 is unlimited
}

// stream separates the draws of this environment from those of others that
// use the same seed.
const stream = 0x67726964776f726c // "gridworl"

// Seeded returns the random source of the task of a seed.
func Seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Published returns the layout of the published version, without its box, which has
// no effect and is in no prompt.
func Published() *Layout {
	l := &Layout{Size: 5, Key: Cell{2, 2}, Door: Cell{3, 3}, Goal: Cell{4, 4}}
	l.derive()
	l.optimal = 10
	return l
}

// attempts is the maximum number of draws of [Generate].
const attempts = 1000

// Generate draws a layout that can be solved. It draws again until breadth-first
// search finds a solution. A shape out of range, or one with too many boxes for a
// solution, is an [*tools.Error] with code Invalid.
func Generate(r *rand.Rand, s Shape) (*Layout, error) {
	switch {
	case s.Size < MinSize || s.Size > MaxSize:
		return nil, refusal.New("shape", fmt.Sprintf("%d to %d", MinSize, MaxSize), "size %d is out of range", s.Size)
	case s.Boxes < 0 || s.Boxes > s.Size*s.Size:
		return nil, refusal.New("shape", fmt.Sprintf("0 to %d", s.Size*s.Size), "%d boxes on %d cells", s.Boxes, s.Size*s.Size)
	case s.Sight < 0:
		return nil, refusal.New("shape", "at least 0", "negative sight %d", s.Sight)
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
	return nil, refusal.New("shape", "fewer boxes", "none of %[3]d layouts of size %[2]d with %[1]d boxes has a solution", s.Boxes, s.Size, attempts)
}

// draw draws a layout, which need not have a solution. It reports false if there
// are not enough free cells.
func draw(r *rand.Rand, s Shape) (*Layout, bool) {
	l := &Layout{Size: s.Size, Sight: s.Sight}
	d := placer{random: r, layout: l}
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
	l.derive()
	return l, !d.exhausted
}

// A placer draws cells for objects, each cell at most once.
type placer struct {
	random    *rand.Rand
	layout    *Layout
	taken     [MaxSize]uint64
	exhausted bool
}

// below draws an integer from 0 to n−1.
func (d *placer) below(n int) int { return int(d.random.Uint32N(uint32(n))) }

// anywhere reports whether a cell is not in the wall.
func (d *placer) anywhere(c Cell) bool { return !d.layout.inWall(c) }

// wall draws the wall and its door, and which of its sides is the near one.
func (d *placer) wall() (near, far func(Cell) bool) {
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

// cells draws a cell for each object, uniformly from the free cells that are wanted.
func (d *placer) cells(wanted func(Cell) bool, objects ...*Cell) {
	free := d.freeCells(wanted)
	if len(free) < len(objects) {
		d.exhausted = true
		return
	}
	for i, object := range objects {
		j := i + d.below(len(free)-i)
		free[i], free[j] = free[j], free[i]
		*object = free[i]
		d.taken[object.Y] |= 1 << object.X
	}
}

// freeCells returns the wanted cells that are not taken, row by row.
func (d *placer) freeCells(wanted func(Cell) bool) []Cell {
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
