package skill_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy/skill"
	"toolgym/tools"
)

// turned is a vector of length 1 that is turned by an angle within a plane: its
// similarity to another is the cosine of the difference.
func turned(angle float64) []float64 {
	v := make([]float64, skill.EmbeddingSize)
	v[0], v[1] = math.Cos(angle), math.Sin(angle)
	return v
}

// walk is a valid skill that leads some cells to the right.
func walk(name string, cells int, embedding []float64) skill.Skill {
	s := skill.Skill{Name: name, Env: "gridworld", Embedding: embedding}
	for i := range cells {
		s.Actions = append(s.Actions, tools.Call{Name: "move_right"})
		s.Path = append(s.Path, skill.Offset{i + 1, 0})
	}
	return s
}

func add(t testing.TB, l *skill.Library, s skill.Skill) bool {
	t.Helper()
	added, err := l.Add(s)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != code {
		t.Errorf("error %v, want one with code %s", err, code)
	}
}

func names(skills []skill.Skill) []string {
	var list []string
	for _, s := range skills {
		list = append(list, s.Name)
	}
	return list
}

func TestAddMerges(t *testing.T) {
	tests := []struct {
		name   string
		rules  string
		second skill.Skill
		added  bool
		steps  int // of the first skill afterwards
	}{
		{"alike and the same effect", tools.Sound, walk("second", 2, turned(0.4)), false, 2},
		{"too unlike", tools.Sound, walk("second", 2, turned(0.5)), true, 2},
		{"alike, another effect", tools.Sound, walk("second", 3, turned(0.4)), true, 2},
		{"alike, another effect, documented", tools.Documented, walk("second", 3, turned(0.4)), false, 2},
		{"too unlike, documented", tools.Documented, walk("second", 3, turned(0.5)), true, 2},
		{"the name is taken", tools.Sound, walk("first", 3, turned(3)), true, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := skill.NewLibrary(test.rules)
			add(t, l, walk("first", 2, turned(0)))
			if added := add(t, l, test.second); added != test.added {
				t.Errorf("added %t, want %t", added, test.added)
			}
			first, _ := l.Lookup("first")
			if want := map[bool]int{true: 1, false: 2}[test.added]; first.TimesFound != want || len(first.Actions) != test.steps {
				t.Errorf("found %d times with %d actions, want %d and %d", first.TimesFound, len(first.Actions), want, test.steps)
			}
			if want := map[bool]int{true: 2, false: 1}[test.added]; l.Len() != want {
				t.Errorf("%d skills, want %d", l.Len(), want)
			}
		})
	}
}

func TestMergingKeepsTheShorterWay(t *testing.T) {
	long := walk("long", 3, turned(0))
	long.Path[1], long.Path[2] = skill.Offset{1, 1}, skill.Offset{2, 0}
	l := skill.NewLibrary(tools.Sound)
	add(t, l, long)
	add(t, l, walk("short", 2, turned(0)))
	add(t, l, long)
	got, _ := l.Lookup("long")
	if len(got.Actions) != 2 || len(got.Path) != 2 || got.TimesFound != 3 {
		t.Errorf("%+v", got)
	}
}

func TestRetrieve(t *testing.T) {
	l := skill.NewLibrary(tools.Sound)
	for i, angle := range []float64{0.9, 0, 2, 1.2} {
		add(t, l, walk(fmt.Sprintf("s%d", i), i+1, turned(angle)))
	}
	key := walk("with_key", 5, turned(1))
	key.Preconditions = map[string]bool{"has_key": true, "door_open": false}
	add(t, l, key)
	for range 2 {
		must(t, l.Count("s1", true))
	}
	must(t, l.Count("s3", true))
	must(t, l.Count("s3", false))
	without := skill.State{Env: "gridworld"}
	with := skill.State{Env: "gridworld", Flags: map[string]bool{"has_key": true}}
	tests := []struct {
		name  string
		state skill.State
		query []float64
		k     int
		want  []string
	}{
		{"nearest first", without, turned(1), 3, []string{"s0", "s3", "s1"}},
		{"preconditions hold", with, turned(1), 2, []string{"with_key", "s0"}},
		{"a flag too many", skill.State{Env: "gridworld", Flags: map[string]bool{"has_key": true, "door_open": true}}, turned(1), 1, []string{"s0"}},
		{"by success rate", without, nil, 9, []string{"s1", "s3", "s0", "s2"}},
		{"another environment", skill.State{Env: "arithmetic"}, turned(1), 3, nil},
		{"none wanted", without, turned(1), 0, nil},
		{"fewer than none", without, nil, -1, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found, err := l.Retrieve(test.state, test.query, test.k)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, names(found)); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, err := l.Retrieve(without, []float64{1}, 1)
	wantCode(t, err, tools.Invalid)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRetirement(t *testing.T) {
	tests := []struct {
		name, rules string
		outcomes    []bool
		retired     bool
	}{
		{"three failures", tools.Sound, []bool{false, false, false}, true},
		{"two failures", tools.Sound, []bool{false, false}, false},
		{"more successes", tools.Sound, []bool{true, true, true, false, false, false}, false},
		{"documented rules", tools.Documented, []bool{false, false, false}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := skill.NewLibrary(test.rules)
			add(t, l, walk("s", 2, turned(0)))
			for _, success := range test.outcomes {
				must(t, l.Count("s", success))
			}
			found, err := l.Retrieve(skill.State{Env: "gridworld"}, nil, 1)
			if err != nil || (len(found) == 0) != test.retired || (l.Stats().Retired == 1) != test.retired {
				t.Errorf("found %v, stats %+v, %v", names(found), l.Stats(), err)
			}
		})
	}
	wantCode(t, skill.NewLibrary(tools.Sound).Count("nobody", true), tools.NotFound)
}

func TestStats(t *testing.T) {
	for rules, want := range map[string]float64{tools.Sound: 0.5, tools.Documented: 1.5} {
		l := skill.NewLibrary(rules)
		add(t, l, walk("s", 2, turned(0)))
		add(t, l, walk("s", 2, turned(0)))
		must(t, l.Count("s", true))
		must(t, l.Count("s", false))
		if diff := cmp.Diff(skill.Stats{Skills: 1, Uses: 2, MeanSuccessRate: want}, l.Stats()); diff != "" {
			t.Errorf("%s: %s", rules, diff)
		}
	}
}

// BenchmarkRetrieve looks one skill up among 10,000: the contract is 1 ms.
func BenchmarkRetrieve(b *testing.B) {
	l := skill.NewLibrary(tools.Sound)
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		add(b, l, walk(fmt.Sprintf("s%d", i), 1+i%200, randomVector(draw)))
	}
	state := skill.State{Env: "gridworld", Flags: map[string]bool{"has_key": true}}
	query := randomVector(draw)
	b.ReportAllocs()
	for b.Loop() {
		if found, err := l.Retrieve(state, query, 8); err != nil || len(found) != 8 {
			b.Fatal(len(found), err)
		}
	}
}

// randomVector draws a vector of length 1.
func randomVector(draw *rand.Rand) []float64 {
	v := make([]float64, skill.EmbeddingSize)
	sum := 0.0
	for i := range v {
		v[i] = draw.NormFloat64()
		sum += v[i] * v[i]
	}
	for i := range v {
		v[i] /= math.Sqrt(sum)
	}
	return v
}
