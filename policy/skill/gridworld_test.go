package skill

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/tools"
)

// TestFeatures works embeddings out by hand, before they are scaled to length 1.
func TestFeatures(t *testing.T) {
	v := &gridView{size: 5, blocked: map[Offset]bool{{2, 1}: true}, row: -1, column: -1, agent: Offset{1, 1}, key: true}
	for name, c := range map[string]struct {
		to     Offset
		target bool
		want   []float64
	}{
		"a target, barred to the right": {Offset{2, -1}, true, []float64{0.5, -0.25, 1, 0, 1, 1.25, 1, 0}},
		"a mere way":                    {Offset{2, -1}, false, []float64{0.5, -0.25, 0, 0, 0, 1.25, 1, 0}},
		"over the edge":                 {Offset{0, -4}, true, []float64{0, -1, 1, 0, 1, math.Sqrt2, 0, 0}},
		"here":                          {Offset{}, true, []float64{0, 0, 1, 0, 1, 1, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(normalize(c.want), features(v, c.to, c.target), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("by hand (-) and made (+):\n%s", diff)
			}
		})
	}
}

// TestNoPlanWithoutEdges: on a grid of unknown size, ways lead on without end, and
// a search for what cannot be reached would not end either.
func TestNoPlanWithoutEdges(t *testing.T) {
	library := NewLibrary(tools.Sound)
	for _, s := range []Skill{
		{Name: "move_right_2", Path: []Offset{{1, 0}, {2, 0}}, Actions: []tools.Call{{Name: "move_right"}, {Name: "move_right"}}},
		{Name: "acquire_key_here", Path: []Offset{{}}, Actions: []tools.Call{{Name: "pickup_key"}}, Gains: hasKey},
	} {
		s.Env, s.Embedding = gridworldName, normalize([]float64{1, 0, 0, 0, 0, 0, 0, float64(len(s.Gains))})
		if _, err := library.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	v := &gridView{places: map[string]Offset{"key": {3, 0}}, row: -1, column: -1} // an odd number of cells away
	if got := library.plan(v); len(got.skills) != 0 {
		t.Errorf("planned %v", got)
	}
	v.size, v.places["key"] = 5, Offset{4, 0}
	if got := library.plan(v); got.steps != 5 || len(got.skills) != 3 {
		t.Errorf("planned %v", got)
	}
}

// TestLatestResultFirst takes a number that several calls answered from the latest
// of them that was not used, and from an operand before a result that was.
func TestLatestResultFirst(t *testing.T) {
	w := newMacroBuilder([]string{"3"})
	w.results = []value{{text: "3"}, {text: "3"}, {text: "4"}}
	var got []source
	for range 4 {
		from, ok := w.sourceOf("3")
		if !ok {
			t.Fatal("the number came from nowhere")
		}
		got = append(got, from)
	}
	zero, one := 0, 1
	want := []source{{Result: &one}, {Result: &zero}, {Operand: &zero}, {Result: &one}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-) and got (+):\n%s", diff)
	}
	if _, ok := w.sourceOf("5"); ok {
		t.Error("5 was found")
	}
}
