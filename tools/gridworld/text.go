package gridworld

import (
	"fmt"
	"strings"
)

// Text draws the world in letters, y upwards, with the coordinates beside it:
// A agent, K key, D closed door, O open door, G goal, # box, = wall.
func (w *World) Text() string {
	var b strings.Builder
	wide := len(fmt.Sprint(w.layout.Size - 1))
	for y := w.layout.Size - 1; y >= 0; y-- {
		fmt.Fprintf(&b, "%*d", wide, y)
		for x := range w.layout.Size {
			fmt.Fprintf(&b, " %*s", wide, w.letter(Cell{x, y}))
		}
		b.WriteByte('\n')
	}
	b.WriteString(strings.Repeat(" ", wide))
	for x := range w.layout.Size {
		fmt.Fprintf(&b, " %*d", wide, x)
	}
	b.WriteByte('\n')
	return b.String()
}

// letter stands for what is on a cell, the agent above all.
func (w *World) letter(c Cell) string {
	if c == (Cell{w.place.x, w.place.y}) {
		return "A"
	}
	switch w.at(c) {
	case "key":
		return "K"
	case "door":
		if w.place.open {
			return "O"
		}
		return "D"
	case "goal":
		return "G"
	case "box":
		return "#"
	case "wall":
		return "="
	}
	return "."
}
