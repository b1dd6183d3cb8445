package envtest

import "testing"

func TestCorrectEnvironment(t *testing.T) { Run(t, spec("")) }

// TestDefects runs the checks on environments with one defect each. The check
// named must fail; others may.
func TestDefects(t *testing.T) {
	tests := []struct{ defect, check string }{
		{"duplicate tool name", "names and schemas"},
		{"open schema", "names and schemas"},
		{"no levels", "names and schemas"},
		{"hidden tool", "tools of a level"},
		{"no prompt", "tasks"},
		{"blank prompt", "tasks"},
		{"accepts any level", "unknown rules and levels"},
		{"accepts any environment", "task of another environment"},
		{"failed reset ends the episode", "task of another environment"},
		{"success before reset", "step before reset"},
		{"steps after the end", "step after the end"},
		{"messages without an episode", "step before reset"},
		{"reset keeps state", "repeated reset"},
		{"unknown listed tool", "every tool is callable"},
		{"observation is a list", "results are objects"},
		{"invalid calls count", "invalid calls"},
		{"invalid calls are free", "step limit"},
		{"ignores arguments", "invalid calls"},
		{"ignores arguments", "hostile arguments"},
		{"fails on long arguments", "hostile arguments"},
		{"no limit", "step limit"},
		{"terminates at the limit", "step limit"},
		{"oracle fails", "oracle"},
		{"optimum too large", "oracle"},
		{"success by any message", "messages"},
		{"step without the message", "messages"},
		{"message solves nothing", "messages"},
		{"vocabulary out of range", "enumerator"},
		{"duplicate token text", "enumerator"},
		{"context outside the vocabulary", "enumerator"},
		{"context overwrites", "enumerator"},
		{"acts after the end", "enumerator"},
		{"enumerator without limit", "enumerator"},
		{"enumerator not deterministic", "enumerator"},
		{"enumerator disagrees", "enumerator"},
		{"enumerator accepts any name", "enumerator with invalid input"},
		{"depends on the Env", "determinism"},
		{"shared Env", "concurrent episodes"},
	}
	for _, test := range tests {
		t.Run(test.defect, func(t *testing.T) {
			for _, c := range checks() {
				if c.name != test.check {
					continue
				}
				err := c.run(t.Context(), spec(test.defect))
				if err == nil {
					t.Fatalf("the check %q passes", c.name)
				}
				t.Log(err)
				return
			}
			t.Fatalf("no check is named %q", test.check)
		})
	}
}
