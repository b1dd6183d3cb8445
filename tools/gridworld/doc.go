// Package gridworld is an environment on a grid: the agent fetches a key, opens a
// door and reaches the goal.
//
// # Worlds
//
// A [Layout] is a grid with all its objects; a [World] is an episode on it. A World
// is a plain value: Step executes an [Action] and does not allocate, and a copy is an
// independent episode. X grows to the right and y upwards, both from 0.
//
//	w, err := gridworld.Open(tools.Sound, "3", 17)
//	for _, action := range w.Path() { // a shortest path
//		reward, done := w.Step(action)
//	}
//
// The reward is 1 for picking up the key, 2 for opening the door, 10 for reaching
// the goal with the door open, which ends the episode, and −0.1 for every other step.
// The step limit is five times the optimal length, and at least 50.
//
//	level  layout
//	0      5x5, the published one
//	1      5x5, random
//	2      8x8, random, with boxes, which cannot be entered
//	3      12x12, random, with boxes and a wall across the grid; the door's cell is
//	       the only gap, and leads to the other side once the door is open
//	4      like 3, but the agent sees at most two cells far; the tool look shows them
//
// [Generate] draws layouts of any [Shape] from 3x3 to 64x64. All objects are on
// different cells. Breadth-first search over (cell, key, door) finds the optimal
// length, and so proves that the layout can be solved. The same seed gives the same
// layout on every machine.
//
// # Tools
//
// [Spec] describes the environment with the tools move_up, move_down, move_left,
// move_right, pickup_key, open_door, and look at level 4, all without arguments. Each
// returns the [State], with a note if the action had no effect. The prompt names the
// start and the objects, from level 2 on the boxes, and at level 3 the wall; at level
// 4 it names the goal and what is in sight. The oracle takes a shortest path; at level
// 4 it knows the layout from the seed.
//
// [NewEnumerator] offers the levels 0 to 3 to the policy.
//
// [World.Text] and [World.SVG] draw a world. The environments of [Spec] have both
// methods too.
//
// # The documented rules and their defects
//
// The documented rules are those of a published tutorial: level 0, at most 50 steps,
// and the same rewards. testdata has its episodes.
//
//  1. open_door is rewarded at every call: an agent that waits at the door and opens
//     it 41 times gets 92.3 in 50 steps, while the shortest solution gets 12.3 in 10.
//     Corrected in the sound rules: only the first call is rewarded.
//  2. The box at (1,3) has no effect, and no prompt names it. Corrected: level 0 has
//     no box, and from level 2 on boxes block and are named.
package gridworld
