package lab

// What models write has no length. A page shows so much of it that it loads at
// once; all of it is scored.
const (
	mostQuoted = 4_000  // bytes of one text of an episode
	mostSaid   = 40_000 // bytes of all its texts
	callCost   = 400    // bytes of the markup around a call
)

// bound cuts what a column shows to what a page can hold.
func (e *episode) bound() {
	e.Answer = clipped(e.Answer, mostQuoted)
	room := mostSaid
	for i := range e.Turns {
		if room = e.Turns[i].bound(room); room <= 0 {
			e.Left += len(e.Turns) - i - 1
			e.Turns = e.Turns[:i+1]
			return
		}
	}
}

// bound cuts a turn to the room there is, and returns what is left of it.
func (t *turn) bound(room int) int {
	quote := func(text *string) {
		*text = clipped(*text, max(0, min(mostQuoted, room)))
		room -= len(*text)
	}
	quote(&t.Thought)
	quote(&t.Spoken)
	for i := range t.Calls {
		if room -= callCost; room <= 0 {
			t.More, t.Calls = len(t.Calls)-i, t.Calls[:i]
			return 0
		}
		c := &t.Calls[i]
		quote(&c.Name)
		quote(&c.Arguments)
		quote(&c.Result)
		for j := range c.Wrong {
			quote(&c.Wrong[j])
		}
	}
	return room
}
