package envtest

import "testing"

func TestHonest(t *testing.T) { Run(t, spec("")) }

// TestSuiteBites runs the checks on environments that break one promise each.
// The check named must fail; others may.
func TestSuiteBites(t *testing.T) {
	flaws := []struct{ flaw, check string }{
		{"name twice", "names and schemas"},
		{"open schema", "names and schemas"},
		{"no levels", "names and schemas"},
		{"hidden tool", "tools of a level"},
		{"no prompt", "tasks"},
		{"blank prompt", "tasks"},
		{"any level", "unknown names are refused"},
		{"any env", "a foreign task is refused"},
		{"refusal ends the episode", "a foreign task is refused"},
		{"success from the start", "step before reset"},
		{"open after the end", "step after the end"},
		{"talk at any time", "step before reset"},
		{"remembers", "reset twice"},
		{"deaf tool", "every tool is callable"},
		{"observation is a list", "results are objects"},
		{"invalid calls count", "invalid calls change nothing"},
		{"invalid calls are free", "the limit truncates"},
		{"lenient", "invalid calls change nothing"},
		{"lenient", "hostile arguments"},
		{"crash", "hostile arguments"},
		{"no limit", "the limit truncates"},
		{"terminates at the limit", "the limit truncates"},
		{"weak oracle", "the oracle solves every task"},
		{"optimal too long", "the oracle solves every task"},
		{"success by talk", "speech"},
		{"forgets what was said", "speech"},
		{"deaf", "speech"},
		{"vocabulary out of range", "enumerator"},
		{"two tokens of one text", "enumerator"},
		{"context of other tokens", "enumerator"},
		{"context overwrites", "enumerator"},
		{"acts behind the end", "enumerator"},
		{"machine without limit", "enumerator"},
		{"machine with a mood", "enumerator"},
		{"another machine", "enumerator"},
		{"enumerates anything", "enumerator refuses unknown names"},
		{"every Env is another", "same calls, same bytes"},
		{"one Env for all", "episodes at the same time"},
	}
	for _, test := range flaws {
		t.Run(test.flaw, func(t *testing.T) {
			for _, c := range checks() {
				if c.name != test.check {
					continue
				}
				err := c.run(t.Context(), spec(test.flaw))
				if err == nil {
					t.Fatalf("the check %q does not mind", c.name)
				}
				t.Log(err)
				return
			}
			t.Fatalf("no check is named %q", test.check)
		})
	}
}
