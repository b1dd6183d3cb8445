package gridworld_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// TestGenerate draws shapes of all kinds. It reads the layout from its drawing and
// finds the optimal length by flood fill, independently of the search under test.
func TestGenerate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := gridworld.Shape{Size: rapid.IntRange(gridworld.MinSize, 20).Draw(t, "size"), Wall: rapid.Bool().Draw(t, "wall")}
		s.Boxes = rapid.IntRange(0, s.Size*s.Size/5).Draw(t, "boxes")
		l, err := gridworld.Generate(gridworld.Seeded(rapid.Uint64().Draw(t, "seed")), s)
		if err != nil {
			t.Skip("no solution:", err)
		}
		places := append(slices.Clone(l.Boxes), l.Start, l.Key, l.Door, l.Goal)
		for i, c := range places {
			if c.X < 0 || c.X >= s.Size || c.Y < 0 || c.Y >= s.Size || slices.Contains(places[:i], c) {
				t.Errorf("place %v of %v is outside the grid or a duplicate", c, places)
			}
		}
		if len(l.Boxes) != s.Boxes || (l.Wall != gridworld.NoWall) != s.Wall {
			t.Errorf("%d boxes, wall %v; want %+v", len(l.Boxes), l.Wall, s)
		}
		w := gridworld.NewWorld(l)
		if want := measure(w.Text(), l); l.Optimal() != want {
			t.Errorf("optimal %d, want %d:\n%s", l.Optimal(), want, w.Text())
		}
	})
}

// measure returns the length of a shortest solution: the distances from start to key,
// door and goal, plus two for the key and the door.
func measure(drawing string, l *gridworld.Layout) int {
	grid := map[gridworld.Cell]string{}
	rows := strings.Split(strings.TrimRight(drawing, "\n"), "\n")
	for i, row := range rows[:len(rows)-1] {
		for x, letter := range strings.Fields(row)[1:] {
			grid[gridworld.Cell{X: x, Y: l.Size - 1 - i}] = letter
		}
	}
	leg := func(from, to gridworld.Cell) int { return flood(grid, from)[to] }
	return leg(l.Start, l.Key) + 1 + leg(l.Key, l.Door) + 1 + leg(l.Door, l.Goal)
}

// flood returns the distance of every cell. It treats the door as open, which does
// not shorten the paths to the key or the door.
func flood(grid map[gridworld.Cell]string, from gridworld.Cell) map[gridworld.Cell]int {
	distance := map[gridworld.Cell]int{from: 0}
	for edge := []gridworld.Cell{from}; len(edge) > 0; edge = edge[1:] {
		c := edge[0]
		for _, to := range []gridworld.Cell{{X: c.X + 1, Y: c.Y}, {X: c.X - 1, Y: c.Y}, {X: c.X, Y: c.Y + 1}, {X: c.X, Y: c.Y - 1}} {
			_, seen := distance[to]
			if letter, inside := grid[to]; inside && !seen && letter != "#" && letter != "=" {
				distance[to] = distance[c] + 1
				edge = append(edge, to)
			}
		}
	}
	return distance
}

func TestGenerateErrors(t *testing.T) {
	tests := []struct {
		name  string
		shape gridworld.Shape
	}{
		{"too small", gridworld.Shape{Size: 2}},
		{"too large", gridworld.Shape{Size: 65}},
		{"negative boxes", gridworld.Shape{Size: 5, Boxes: -1}},
		{"more boxes than cells", gridworld.Shape{Size: 5, Boxes: 26}},
		{"no cell left", gridworld.Shape{Size: 3, Boxes: 6}},
		{"huge number of boxes", gridworld.Shape{Size: 64, Boxes: 1 << 30}},
		{"no path left", gridworld.Shape{Size: 30, Boxes: 880}},
		{"negative sight", gridworld.Shape{Size: 5, Sight: -1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, err := gridworld.Generate(gridworld.Seeded(1), test.shape)
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != tools.Invalid || l != nil {
				t.Errorf("got %v, %v; want an error with code invalid", l, err)
			}
		})
	}
}

func TestExtremeSizes(t *testing.T) {
	for _, s := range []gridworld.Shape{{Size: 3}, {Size: 3, Wall: true}, {Size: 3, Boxes: 2}, {Size: 64}, {Size: 64, Boxes: 800, Wall: true}} {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			for seed := range uint64(20) {
				l, err := gridworld.Generate(gridworld.Seeded(seed), s)
				if err != nil {
					t.Fatal(err)
				}
				w := gridworld.NewWorld(l)
				for _, action := range w.Path() {
					w.Step(action)
				}
				if !w.Success() || w.Steps() != l.Optimal() {
					t.Errorf("seed %d: success %v in %d steps, want %d", seed, w.Success(), w.Steps(), l.Optimal())
				}
			}
		})
	}
}

// TestLevels checks that every seed gives a layout of the documented shape.
func TestLevels(t *testing.T) {
	sizes := map[string]int{"0": 5, "1": 5, "2": 8, "3": 12, "4": 12}
	for level, size := range sizes {
		t.Run("level "+level, func(t *testing.T) {
			different := map[string]bool{}
			for seed := range uint64(500) {
				w := open(t, level, seed)
				l := w.Layout()
				if l.Size != size || len(l.Boxes) > 0 != (level >= "2") || (l.Wall != gridworld.NoWall) != (level >= "3") || (l.Sight == 2) != (level == "4") {
					t.Fatalf("seed %d: %+v", seed, l)
				}
				different[w.Text()] = true
			}
			if len(different) < 400 && level != "0" {
				t.Errorf("%d different layouts for 500 seeds, want at least 400", len(different))
			}
		})
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	w := open(t, "3", 17)
	for range 20 {
		decoder := xml.NewDecoder(strings.NewReader(w.SVG()))
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, part := range []string{`role="img"`, "<title>", "the goal at (8,2)", "currentColor", ">A</text>"} {
			if !strings.Contains(w.SVG(), part) {
				t.Errorf("the image does not contain %s", part)
			}
		}
		if path := w.Path(); path != nil {
			w.Step(path[0])
		}
	}
}
