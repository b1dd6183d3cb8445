package gridworld

import (
	"fmt"
	"strings"
)

// A Sight is what the agent sees around it: all cells from one corner to the
// other, of which those not listed are empty.
type Sight struct {
	From   Cell    `json:"from"`
	To     Cell    `json:"to"`
	Things []Thing `json:"things"`
}

// A Thing stands on a cell: a key, door, goal, box or wall.
type Thing struct {
	Cell Cell   `json:"cell"`
	Is   string `json:"is"`
}

// Sight lists what is in sight: everything, where sight is not limited.
func (w *World) Sight() Sight {
	far := w.layout.Sight
	if far == 0 {
		far = w.layout.Size
	}
	p, last := w.place, w.layout.Size-1
	s := Sight{
		From:   Cell{max(0, p.x-far), max(0, p.y-far)},
		To:     Cell{min(last, p.x+far), min(last, p.y+far)},
		Things: []Thing{},
	}
	for y := s.From.Y; y <= s.To.Y; y++ {
		for x := s.From.X; x <= s.To.X; x++ {
			if is := w.at(Cell{x, y}); is != "" {
				s.Things = append(s.Things, Thing{Cell{x, y}, is})
			}
		}
	}
	return s
}

// at names what stands on a cell, "" for nothing. A key that is held stands
// nowhere.
func (w *World) at(c Cell) string {
	l := w.layout
	switch {
	case c == l.Key && !w.place.key:
		return "key"
	case c == l.Door:
		return "door"
	case c == l.Goal:
		return "goal"
	case l.inWall(c):
		return "wall"
	case !l.free(c.X, c.Y):
		return "box"
	}
	return ""
}

// look puts what is in sight into words.
func (w *World) look() string {
	var words []string
	for _, thing := range w.Sight().Things {
		words = append(words, fmt.Sprintf("%s at %v", thing.Is, thing.Cell))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}
