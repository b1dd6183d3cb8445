package lab

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// TestLessonsKeepTheirPromises follows each "Try it" and looks at what it says
// one will see.
func TestLessonsKeepTheirPromises(t *testing.T) {
	l := newLab(t)
	tried := map[string]shown{}
	for _, lesson := range lessons() {
		for _, try := range lesson.Tries {
			query, err := url.ParseQuery(string(try.Query))
			if err != nil {
				t.Fatal(err)
			}
			set, note, err := l.settings(query)
			if err != nil {
				t.Fatal(err)
			}
			if tried[try.Name], err = l.stage(t.Context(), set, note); err != nil {
				t.Fatal(err)
			}
		}
	}
	reward := func(v shown, column int) float64 {
		value, err := strconv.ParseFloat(strings.Replace(v.Columns[column].Reward, "−", "-", 1), 64)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	for name, holds := range map[string]func(v shown) bool{
		"Untrained beside trained": func(v shown) bool {
			return !v.Columns[0].Success && v.Columns[1].Success && strings.Contains(v.Columns[1].Parts, "C:+3.0") &&
				strings.Contains(v.Columns[0].Parts, "C:+0.0") && *v.Study.Call > 5**v.Study.CallBefore
		},
		"Pay for every turn": func(v shown) bool {
			return reward(v, 0) > 2*reward(v, 1) && !v.Columns[0].Success && v.Columns[1].Success
		},
		"Stop paying for the end": func(v shown) bool {
			return reward(v, 1) > reward(v, 0) && len(v.Columns[1].Turns[0].Calls) == 0
		},
		"A group with a spread": func(v shown) bool {
			sum, best, most := 0.0, math.Inf(-1), math.Inf(-1)
			for _, m := range v.Study.Members {
				if sum += m.Advantage; *m.Reward >= best {
					best, most = *m.Reward, max(most, m.Advantage)
				}
			}
			return !v.Study.Score.ZeroStd && math.Abs(sum) < 1e-9 && most == v.Study.Best && most > 0
		},
		"A group without one": func(v shown) bool { return v.Study.Score.ZeroStd && *v.Study.Advantage == 0 },
	} {
		v, ok := tried[name]
		if !ok {
			t.Errorf("nothing is tried as %q", name)
		} else if !holds(v) {
			t.Errorf("%s: %s %s and %s %s; %+v", name, v.Columns[0].Reward, v.Columns[0].Parts, v.Columns[1].Reward, v.Columns[1].Parts, v.Study)
		}
		delete(tried, name)
	}
	for name := range tried {
		t.Errorf("%q promises what is not tested", name)
	}
}
