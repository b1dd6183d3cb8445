package skill

import (
	"container/heap"
	"slices"
)

// perDecision is the cost of a skill in a chain in addition to its steps: of ways
// with the same number of steps, the one with fewer skills is chosen.
const perDecision = 0.01

// nearest is how many skills are retrieved for the next target.
const maxCandidates = 8

// A chain is a sequence of skills.
type chain struct {
	skills []Skill
	steps  int
}

// plan finds how to reach the next target: by the nearest of the skills that
// reach it, if the way is the same and its cells are free, or by a chain of
// skills that takes fewer steps. Skills without a path, which the file of a
// library may have, are not used. The chain is empty if no way is known.
func (l *Library) plan(v *gridView) chain {
	gains, target, known := v.next()
	if !known || v.size == 0 { // a grid of unknown size is not searched
		return chain{}
	}
	way := target.minus(v.agent)
	hits, _ := l.Retrieve(v.state(), features(v, way, true), maxCandidates) // the query has the right size
	direct := chain{}
	for _, s := range hits {
		if len(s.Path) > 0 && s.Gains == gains && s.end() == way && v.clear(&s, v.agent) && (direct.steps == 0 || len(s.Actions) < direct.steps) {
			direct = chain{[]Skill{s}, len(s.Actions)}
		}
	}
	if direct.steps > 0 && direct.steps <= abs(way[0])+abs(way[1]) {
		return direct // nothing is shorter
	}
	composed := l.compose(v, gains, target)
	if direct.steps > 0 && (composed.steps == 0 || direct.steps <= composed.steps) {
		return direct
	}
	return composed
}

// compose searches the cheapest chain (Dijkstra) over the cells that skills
// lead to. It uses the view of the grid and the paths of skills; nothing is
// tried.
func (l *Library) compose(v *gridView, gains string, target Offset) chain {
	ways, closing := l.usable(v, gains)
	if len(closing) == 0 {
		return chain{}
	}
	open := &frontier{{cell: v.agent}}
	from := map[Offset]link{v.agent: {skill: -1}}
	best, last := link{skill: -1}, -1
	for open.Len() > 0 {
		here := heap.Pop(open).(node)
		if here.cost > from[here.cell].cost {
			continue // reached at lower cost
		}
		if last >= 0 && here.cost >= best.cost {
			break
		}
		for _, i := range closing {
			s := &l.skills[i]
			cost := here.cost + float64(len(s.Actions)) + perDecision
			if here.cell.plus(s.end()) == target && v.clear(s, here.cell) && (last < 0 || cost < best.cost) {
				best, last = link{cost: cost, from: here.cell, skill: i}, i
			}
		}
		for _, i := range ways {
			s := &l.skills[i]
			to, cost := here.cell.plus(s.end()), here.cost+float64(len(s.Actions))+perDecision
			if have, reached := from[to]; (!reached || cost < have.cost) && v.clear(s, here.cell) {
				from[to] = link{cost: cost, from: here.cell, skill: i}
				heap.Push(open, node{to, cost})
			}
		}
	}
	if last < 0 {
		return chain{}
	}
	return l.trace(from, best)
}

// usable lists the skills that move, and those that gain the flag.
func (l *Library) usable(v *gridView, gains string) (ways, closing []int) {
	state, bits := v.state(), v.state().bits()
	for i := range l.skills {
		s := &l.skills[i]
		switch {
		case len(s.Path) == 0 || !l.conditions[i].holds(&state, bits):
		case s.Gains == gains:
			closing = append(closing, i)
		case s.Gains == "":
			ways = append(ways, i)
		}
	}
	return ways, closing
}

// trace follows the links back.
func (l *Library) trace(from map[Offset]link, end link) chain {
	var c chain
	for at := end; at.skill >= 0; at = from[at.from] {
		c.skills = append(c.skills, l.skills[at.skill])
		c.steps += len(l.skills[at.skill].Actions)
	}
	slices.Reverse(c.skills)
	return c
}

// A link is how a cell was reached: from where, by which skill, at what cost.
type link struct {
	cost  float64
	from  Offset
	skill int // -1 at the start
}

type node struct {
	cell Offset
	cost float64
}

// frontier is a heap of the cells to expand.
type frontier []node

func (f frontier) Len() int           { return len(f) }
func (f frontier) Less(i, j int) bool { return f[i].cost < f[j].cost }
func (f frontier) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(n any)        { *f = append(*f, n.(node)) }
func (f *frontier) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}
