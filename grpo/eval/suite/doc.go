// Package suite says which tasks an evaluation plays.
//
// [Generate] makes tasks of environments: so many of each level, with seeds
// that follow each other. [Read] reads questions of the user's own from a
// JSONL file. [eval.Item.Replay] plays the reference solution of an item and grades it as
// a model would be graded, so that an unsolvable task is found before a
// model is blamed for it.
//
// # Files
//
// A line is one question, in the form of the Berkeley Function-Calling
// Leaderboard with question and answer in one object:
//
//		{"id":"area_0",
//		 "question":[[{"role":"user","content":"What is the area of a triangle of base 10 and height 5?"}]],
//		 "function":[{"name":"triangle_area","description":"…","parameters":{"type":"dict","properties":{"base":{"type":"integer"},"height":{"type":"integer"},"unit":{"type":"string"}},"required":["base","height"]}}],
//		 "ground_truth":[{"triangle_area":{"base":[10],"height":[5],"unit":["units",""]}}]}
//
//	  - question is a text, a list of messages, or a list that holds one such
//	    list; several turns are refused;
//	  - function is a tool or a list of tools, also in the form
//	    {"type":"function","function":{…}}; the types dict, float, tuple and any
//	    become JSON Schema's;
//	  - ground_truth lists the calls that must be made, in any order, each
//	    argument with the values that are right; an empty text among them says
//	    that the argument may be left out. An empty list asks for no call at all.
//	  - in place of ground_truth, expected may hold the form of POST /v1/score,
//	    with matchers, order and a final answer;
//	  - level groups lines in reports; without it the id's part before a final
//	    number does ("area").
//
// Values are compared exactly, numbers by value. Other keys are refused. Every
// line that cannot be used is reported with its number, and why.
package suite
