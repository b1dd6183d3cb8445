// Command score grades a group of completions in-process: four texts that a
// model might have written for one prompt, read strictly, rewarded by the
// published lab's rubric, and turned into group-relative advantages.
//
//	go run ./examples/score
package main
