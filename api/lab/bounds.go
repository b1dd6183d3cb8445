package lab

// What models write has no length. A page shows so much of it that it loads at
// once; all of it is scored.
const (
	mostTurns  = 40     // of an episode: who walks at random walks long
	mostQuoted = 4_000  // bytes of one text of an episode
	mostSaid   = 40_000 // bytes of all its texts
	callCost   = 400    // bytes of the markup around a call
)

// bound cuts what a column shows to what a page can hold: the first turns, and in
// one more step how it ends.
func (e *episode) bound() {
	e.Answer = clipped(e.Answer, mostQuoted)
	whole, shown, room := len(e.Turns), 0, mostSaid
	for shown < min(whole, mostTurns) && room > 0 {
		room = e.Turns[shown].bound(room)
		shown++
	}
	e.Turns, e.Left = e.Turns[:shown], whole-shown
	if last := len(e.Frames) - 1; last > e.Steps() {
		end := e.Frames[last]
		end.Step = e.Steps()
		e.Frames = append(e.Frames[:end.Step], end)
	}
	if len(e.Frames) > 0 {
		e.Frames[len(e.Frames)-1].Last = true
	}
}

// Steps is how many steps there are to go through. What is left is one.
func (e *episode) Steps() int { return len(e.Turns) + min(1, e.Left) }

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
