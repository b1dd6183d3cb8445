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
