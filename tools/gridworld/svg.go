package gridworld

import (
	"fmt"
	"strings"
)

// side is a cell's width in the drawing's units.
const side = 24

// SVG draws the world as a picture that stands alone or in a page. Lines,
// boxes and walls take the text's colour, so that it suits light and dark, and
// every thing is of a class (agent, key, door, goal, box, wall) to which a page
// may give colours of its own. Every thing has its letter and a shape of its own
// beside its colour; title and description say the same in words. Boxes, and the
// cells of a wall, are one path each: a page may hold a hundred such pictures.
func (w *World) SVG() string {
	var b strings.Builder
	l := w.layout
	wide := l.Size * side
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 %d %d" width="%d" role="img">`, wide+2, wide+2, wide+2)
	fmt.Fprintf(&b, `<title>Gridworld, %dx%d</title><desc>%s</desc><path fill="none" stroke="currentColor" stroke-opacity="0.25" d="`, l.Size, l.Size, w.describe())
	for i := 0; i <= l.Size; i++ {
		fmt.Fprintf(&b, "M0 %dH%dM%d 0V%d", i*side, wide, i*side, wide)
	}
	b.WriteString(`"/>`)
	w.fill(&b, "box", 0.35, 3)
	w.fill(&b, "wall", 0.6, 0)
	b.WriteString(`<g font-family="sans-serif" font-size="13" text-anchor="middle">`)
	for _, c := range []Cell{l.Goal, l.Door, l.Key} {
		w.sketch(&b, c)
	}
	w.put(&b, Cell{w.place.x, w.place.y}, `<circle class="agent" cx="12" cy="12" r="8" fill="#2f6fc4"/>`, "A", "#ffffff")
	b.WriteString("</g></svg>")
	return b.String()
}

// fill draws all cells of one kind, as squares that leave a margin.
func (w *World) fill(b *strings.Builder, kind string, opacity float64, margin int) {
	var cells strings.Builder
	for y := range w.layout.Size {
		for x := range w.layout.Size {
			if w.at(Cell{x, y}) == kind {
				wide := side - 2*margin
				fmt.Fprintf(&cells, "M%d %dh%dv%dh-%dz", x*side+margin, (w.layout.Size-1-y)*side+margin, wide, wide, wide)
			}
		}
	}
	if cells.Len() > 0 {
		fmt.Fprintf(b, `<path class="%s" fill="currentColor" fill-opacity="%g" d="%s"/>`, kind, opacity, cells.String())
	}
}

// sketch draws what stands on a cell, the agent excepted.
func (w *World) sketch(b *strings.Builder, c Cell) {
	switch w.at(c) {
	case "key":
		w.put(b, c, `<path class="key" d="M12 3l9 9-9 9-9-9z" fill="#8a6508"/>`, "K", "#ffffff")
	case "door":
		if w.place.open {
			w.put(b, c, `<rect class="door open" x="4" y="2" width="16" height="20" fill="none" stroke="#a0522d" stroke-width="2" stroke-dasharray="4 2"/>`, "O", "currentColor")
		} else {
			w.put(b, c, `<rect class="door" x="4" y="2" width="16" height="20" fill="#a0522d"/>`, "D", "#ffffff")
		}
	case "goal":
		w.put(b, c, `<rect class="goal" x="3" y="3" width="18" height="18" rx="9" fill="#2e7d4f"/>`, "G", "#ffffff")
	}
}

// put draws a shape and a letter on a cell. Rows grow downwards in a picture
// and upwards in the world.
func (w *World) put(b *strings.Builder, c Cell, shape, letter, colour string) {
	fmt.Fprintf(b, `<g transform="translate(%d %d)">%s`, c.X*side, (w.layout.Size-1-c.Y)*side, shape)
	if letter != "" {
		fmt.Fprintf(b, `<text x="12" y="16.5" fill="%s">%s</text>`, colour, letter)
	}
	b.WriteString("</g>")
}

// describe says in words what the picture shows.
func (w *World) describe() string {
	l, p := w.layout, w.place
	door, key := "closed", fmt.Sprintf("the key at %v", l.Key)
	if p.open {
		door = "open"
	}
	if p.key {
		key = "who holds the key"
	}
	text := fmt.Sprintf("The agent at %v, %s, the %s door at %v, the goal at %v", Cell{p.x, p.y}, key, door, l.Door, l.Goal)
	return text + "." + obstacles(l)
}
