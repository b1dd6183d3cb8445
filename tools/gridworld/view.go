package gridworld

import (
	"fmt"
	"strings"
)

// A Sight is the part of the grid that the agent sees: the rectangle between two
// corners. Cells without a Thing are empty.
type Sight struct {
	From   Cell    `json:"from"`
	To     Cell    `json:"to"`
	Things []Thing `json:"things"`
}

// A Thing is an object on a cell: a key, door, goal, box or wall.
type Thing struct {
	Cell Cell   `json:"cell"`
	Is   string `json:"is"`
}

// Sight returns what is in sight, which is the whole grid if sight is not limited.
func (w *World) Sight() Sight {
	radius := w.layout.Sight
	if radius == 0 {
		radius = w.layout.Size
	}
	p, last := w.agent, w.layout.Size-1
	s := Sight{
		From:   Cell{max(0, p.x-radius), max(0, p.y-radius)},
		To:     Cell{min(last, p.x+radius), min(last, p.y+radius)},
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

// at returns the name of the object on a cell, or "". A key that the agent holds is
// on no cell.
func (w *World) at(c Cell) string {
	l := w.layout
	switch {
	case c == l.Key && !w.agent.key:
		return "key"
	case c == l.Door:
		return "door"
	case c == l.Goal:
		return "goal"
	case l.inWall(c):
		return "wall"
	case !l.passable(c.X, c.Y):
		return "box"
	}
	return ""
}

// describeSight lists what is in sight.
func (w *World) describeSight() string {
	var words []string
	for _, thing := range w.Sight().Things {
		words = append(words, fmt.Sprintf("%s at %v", thing.Is, thing.Cell))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}

// Text draws the world as text with coordinates, y upwards: A agent, K key, D closed
// door, O open door, G goal, # box, = wall.
func (w *World) Text() string {
	var b strings.Builder
	width := len(fmt.Sprint(w.layout.Size - 1))
	for y := w.layout.Size - 1; y >= 0; y-- {
		fmt.Fprintf(&b, "%*d", width, y)
		for x := range w.layout.Size {
			fmt.Fprintf(&b, " %*s", width, w.letter(Cell{x, y}))
		}
		b.WriteByte('\n')
	}
	b.WriteString(strings.Repeat(" ", width))
	for x := range w.layout.Size {
		fmt.Fprintf(&b, " %*d", width, x)
	}
	b.WriteByte('\n')
	return b.String()
}

// letter returns the letter of a cell. The agent hides other objects.
func (w *World) letter(c Cell) string {
	if c == (Cell{w.agent.x, w.agent.y}) {
		return "A"
	}
	switch w.at(c) {
	case "key":
		return "K"
	case "door":
		if w.agent.open {
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

// side is the width of a cell in SVG units.
const side = 24

// SVG draws the world as an SVG image, for a file or for embedding in HTML. Lines,
// boxes and walls use currentColor, which works on light and dark pages; objects have
// a class (agent, key, door, goal, box, wall) for style sheets. For accessibility,
// objects differ in letter and shape as well as in colour, and the image has a title
// and a description. All boxes are one path, and all cells of the wall another, to
// keep pages with many images small.
func (w *World) SVG() string {
	var b strings.Builder
	l := w.layout
	width := l.Size * side
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 %d %d" width="%d" role="img">`, width+2, width+2, width+2)
	fmt.Fprintf(&b, `<title>Gridworld, %dx%d</title><desc>%s</desc><path fill="none" stroke="currentColor" stroke-opacity="0.25" d="`, l.Size, l.Size, w.describe())
	for i := 0; i <= l.Size; i++ {
		fmt.Fprintf(&b, "M0 %dH%dM%d 0V%d", i*side, width, i*side, width)
	}
	b.WriteString(`"/>`)
	w.fill(&b, "box", 0.35, 3)
	w.fill(&b, "wall", 0.6, 0)
	b.WriteString(`<g font-family="sans-serif" font-size="13" text-anchor="middle">`)
	for _, c := range []Cell{l.Goal, l.Door, l.Key} {
		w.drawObject(&b, c)
	}
	w.put(&b, Cell{w.agent.x, w.agent.y}, `<circle class="agent" cx="12" cy="12" r="8" fill="#2f6fc4"/>`, "A", "#ffffff")
	b.WriteString("</g></svg>")
	return b.String()
}

// fill draws all cells of one kind as squares with a margin.
func (w *World) fill(b *strings.Builder, kind string, opacity float64, margin int) {
	var cells strings.Builder
	for y := range w.layout.Size {
		for x := range w.layout.Size {
			if w.at(Cell{x, y}) == kind {
				width := side - 2*margin
				fmt.Fprintf(&cells, "M%d %dh%dv%dh-%dz", x*side+margin, (w.layout.Size-1-y)*side+margin, width, width, width)
			}
		}
	}
	if cells.Len() > 0 {
		fmt.Fprintf(b, `<path class="%s" fill="currentColor" fill-opacity="%g" d="%s"/>`, kind, opacity, cells.String())
	}
}

// drawObject draws the object on a cell.
func (w *World) drawObject(b *strings.Builder, c Cell) {
	switch w.at(c) {
	case "key":
		w.put(b, c, `<path class="key" d="M12 3l9 9-9 9-9-9z" fill="#8a6508"/>`, "K", "#ffffff")
	case "door":
		if w.agent.open {
			w.put(b, c, `<rect class="door open" x="4" y="2" width="16" height="20" fill="none" stroke="#a0522d" stroke-width="2" stroke-dasharray="4 2"/>`, "O", "currentColor")
		} else {
			w.put(b, c, `<rect class="door" x="4" y="2" width="16" height="20" fill="#a0522d"/>`, "D", "#ffffff")
		}
	case "goal":
		w.put(b, c, `<rect class="goal" x="3" y="3" width="18" height="18" rx="9" fill="#2e7d4f"/>`, "G", "#ffffff")
	}
}

// put draws a shape and a letter on a cell. In SVG, y grows downwards.
func (w *World) put(b *strings.Builder, c Cell, shape, letter, colour string) {
	fmt.Fprintf(b, `<g transform="translate(%d %d)">%s`, c.X*side, (w.layout.Size-1-c.Y)*side, shape)
	if letter != "" {
		fmt.Fprintf(b, `<text x="12" y="16.5" fill="%s">%s</text>`, colour, letter)
	}
	b.WriteString("</g>")
}

// describe returns the description of the image.
func (w *World) describe() string {
	l, p := w.layout, w.agent
	door, key := "closed", fmt.Sprintf("the key at %v", l.Key)
	if p.open {
		door = "open"
	}
	if p.key {
		key = "holding the key"
	}
	text := fmt.Sprintf("The agent at %v, %s, the %s door at %v, the goal at %v", Cell{p.x, p.y}, key, door, l.Door, l.Goal)
	return text + "." + obstacles(l)
}
