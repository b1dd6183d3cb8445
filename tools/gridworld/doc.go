// Package gridworld is the gym's grid environment: the agent fetches a key,
// opens a door and reaches the goal.
//
// # Worlds
//
// A [Layout] is a grid with everything in its place; a [World] is an episode on
// it, a plain value whose Step carries out an [Action] and allocates nothing. X
// grows to the right and y upwards, both from 0.
//
//	w, err := gridworld.Open(tools.Sound, "3", 17)
//	for _, action := range w.Path() { // a shortest way
//		reward, done := w.Step(action)
//	}
//
// Picking up the key pays 1, opening the door 2, reaching the goal with the
// door open 10 and ends the episode; every other step costs 0.1. The limit is
// five times the optimal length, 50 at the least.
//
//	level  layout
//	0      5x5, the published one
//	1      5x5, places drawn from the seed
//	2      8x8 with boxes, which can not be entered
//	3      12x12 with boxes and a wall from side to side; only the door's cell
//	       passes it, and leads to the far side once the door is open
//	4      as 3, and the agent sees two cells far; the tool look shows them
//
// [Generate] draws layouts of any [Shape] from 3x3 to 64x64. All places are
// different, and breadth-first search over (cell, key, door) proves that each
// layout can be solved; the length it finds is the task's optimal length. The
// same seed gives the same layout on every machine.
//
// # Tools
//
// [Spec] describes the environment with the tools move_up, move_down,
// move_left, move_right, pickup_key, open_door, and look at level 4, all
// without arguments. Each answers with the [State]; what did nothing says why in
// a note. The message names the start and, as far as they are in sight, the
// places, from level 2 on the boxes, and at level 3 the wall. The oracle walks a
// shortest way; at level 4 it knows the layout from the seed.
//
// [NewEnumerator] offers the levels 0 to 3 to the policy.
//
// [World.Text] and [World.SVG] draw a world. An episode of [Spec] has both
// methods too.
//
// # The documented rules and their defects
//
// They are those of a published tutorial, pinned by testdata: level 0, 50
// steps at most, the same rewards.
//
//  1. open_door pays every time it is called: who waits at the door and opens
//     it 41 times gets 92.3 in 50 steps, where the shortest solution gets 12.3
//     in 10. Mended: the door pays once.
//  2. The box at (1,3) has no effect and no prompt names it. Mended: level 0 has
//     no box, and from level 2 on boxes block and are named.
package gridworld
