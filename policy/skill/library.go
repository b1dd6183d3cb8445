package skill

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"toolgym/tools"
)

// mergeSimilarity is the cosine similarity above which a skill is merged into another.
const mergeSimilarity = 0.9

// fewestFailures is the number of failures, if they are more than the successes,
// after which a skill is retired.
const fewestFailures = 3

// A Library keeps skills in the order in which they were found. It must not be
// used concurrently, except for reading only.
type Library struct {
	rules      string
	skills     []Skill
	conditions []condition
	vectors    []float64         // all embeddings, concatenated
	byName     map[string]int    // index
	saved      map[string]counts // counts in the file when it was last read or written
}

// NewLibrary returns an empty library. Under the documented rules Add merges by
// similarity alone, and no skill is ever retired.
func NewLibrary(rules string) *Library {
	return &Library{rules: rules, byName: map[string]int{}, saved: map[string]counts{}}
}

// Rules returns the rule set of the library.
func (l *Library) Rules() string { return l.rules }

// Skills returns copies of all skills, including retired ones.
func (l *Library) Skills() []Skill {
	list := make([]Skill, len(l.skills))
	for i := range l.skills {
		list[i] = l.skills[i].clone()
	}
	return list
}

// Clone returns a deep copy.
func (l *Library) Clone() *Library {
	c := NewLibrary(l.rules)
	for i := range l.skills {
		c.append(l.skills[i].clone())
	}
	maps.Copy(c.saved, l.saved)
	return c
}

// Len returns the number of skills that are not retired.
func (l *Library) Len() (n int) {
	for i := range l.skills {
		if !l.skills[i].Retired {
			n++
		}
	}
	return n
}

// Lookup finds a skill by name.
func (l *Library) Lookup(name string) (Skill, bool) {
	i, ok := l.byName[name]
	if !ok {
		return Skill{}, false
	}
	return l.skills[i].clone(), true
}

// Add merges a skill into the most similar one if their cosine similarity
// exceeds 0.9 and, under the sound rules, they have the same effect: the
// existing skill is counted as found once more and keeps the shorter of the two
// paths. Any other skill is appended, with a number after its name if the name
// is in use. Add reports whether it appended the skill. An invalid skill is a
// [*tools.Error] with code invalid.
func (l *Library) Add(s Skill) (added bool, err error) {
	if err := s.Validate(); err != nil {
		return false, err
	}
	s.TimesFound = max(s.TimesFound, 1)
	if i := l.mostSimilar(&s); i >= 0 {
		l.mergeInto(i, &s, counts{s.SuccessCount, s.TimesUsed, s.TimesFound})
		return false, nil
	}
	s = s.clone()
	s.Name = l.free(s.Name)
	l.append(s)
	return true, nil
}

// Learn adds the skills of a trajectory, see [Extract]. It returns how many
// there were, and how many were appended.
func (l *Library) Learn(trajectory tools.Trajectory) (found, added int, err error) {
	skills, err := Extract(trajectory)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range skills {
		appended, err := l.Add(s)
		if err != nil {
			return found, added, err
		}
		if found++; appended {
			added++
		}
	}
	return found, added, nil
}

// mostSimilar returns the index of the skill that s is to be merged into, or
// -1.
func (l *Library) mostSimilar(s *Skill) int {
	best, similarity := -1, mergeSimilarity
	for i := range l.skills {
		if l.skills[i].Env != s.Env || l.rules != tools.Documented && !l.skills[i].sameEffect(s) {
			continue
		}
		if have := dot(l.vector(i), s.Embedding); have > similarity {
			best, similarity = i, have
		}
	}
	return best
}

// absorb merges s into skill i, with the given counts to be added.
func (l *Library) mergeInto(i int, s *Skill, c counts) {
	t := &l.skills[i]
	t.SuccessCount += c.successes
	t.TimesUsed += c.uses
	t.TimesFound += c.found
	if l.rules == tools.Documented {
		return
	}
	l.retire(i, s.Retired)
	if len(s.Actions) < len(t.Actions) { // it does the same
		t.Actions, t.Path = slices.Clone(s.Actions), slices.Clone(s.Path)
	}
}

func (l *Library) append(s Skill) {
	l.byName[s.Name] = len(l.skills)
	l.skills = append(l.skills, s)
	l.conditions = append(l.conditions, compile(&s))
	l.vectors = append(l.vectors, s.Embedding...)
}

func (l *Library) vector(i int) []float64 {
	return l.vectors[i*EmbeddingSize : (i+1)*EmbeddingSize]
}

// free is the name, or the first of NAME_2, NAME_3 … that is not taken.
func (l *Library) free(name string) string {
	unique := name
	for n := 2; ; n++ {
		if _, taken := l.byName[unique]; !taken {
			return unique
		}
		unique = fmt.Sprintf("%s_%d", name[:min(len(name), mostName-6)], n)
	}
}

// Retrieve finds up to k skills whose preconditions hold in the state, the
// retired ones left out: those most similar to the query first, or without a query
// those with the highest success rate. Skills of equal rank keep the library's
// order. A query of another size is an [*tools.Error], code Invalid.
func (l *Library) Retrieve(state State, query []float64, k int) ([]Skill, error) {
	if len(query) != 0 && len(query) != EmbeddingSize {
		return nil, invalid("query", fmt.Sprintf("%d numbers", len(query)), fmt.Sprintf("%d, or none", EmbeddingSize))
	}
	type hit struct {
		rank float64
		at   int
	}
	best := make([]hit, 0, max(k, 0)+1)
	bits := state.bits()
	for i := range l.conditions {
		if !l.conditions[i].holds(&state, bits) {
			continue
		}
		rank := l.rank(i, query)
		if len(best) >= k && (k <= 0 || rank <= best[k-1].rank) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, rank, func(h hit, rank float64) int {
			return cmp.Or(cmp.Compare(rank, h.rank), -1)
		})
		best = slices.Insert(best, at, hit{rank, i})
		best = best[:min(len(best), k)]
	}
	found := make([]Skill, len(best))
	for i, hit := range best {
		found[i] = l.skills[hit.at]
	}
	return found, nil
}

// rank is the similarity of a skill to the query, or its rate without one.
func (l *Library) rank(i int, query []float64) float64 {
	if len(query) > 0 {
		return dot(l.vector(i), query)
	}
	return l.rate(&l.skills[i])
}

// rate is a skill's success rate. The documented one counts every merge as a
// success without counting it as a use, so that it exceeds 1.
func (l *Library) rate(s *Skill) float64 {
	if l.rules == tools.Documented {
		return float64(s.SuccessCount+s.TimesFound) / float64(max(s.TimesUsed, 1))
	}
	return s.rate()
}

// Count notes an execution of a skill. Under the sound rules a skill that
// failed three times, and more often than it succeeded, is retired. An unknown
// name is an [*tools.Error], code NotFound.
func (l *Library) Count(name string, success bool) error {
	i, ok := l.byName[name]
	if !ok {
		return &tools.Error{Code: tools.NotFound, Where: "name", Message: fmt.Sprintf("there is no skill %.80q", name)}
	}
	s := &l.skills[i]
	s.TimesUsed++
	if success {
		s.SuccessCount++
	}
	failures := s.TimesUsed - s.SuccessCount
	l.retire(i, l.rules != tools.Documented && failures >= fewestFailures && failures > s.SuccessCount)
	return nil
}

// retire takes a skill out of use, if it is not yet.
func (l *Library) retire(i int, retired bool) {
	l.skills[i].Retired = l.skills[i].Retired || retired
	l.conditions[i].retired = l.skills[i].Retired
}

// Stats are a library's figures.
type Stats struct {
	Skills  int `json:"skills"` // that are not retired
	Retired int `json:"retired"`
	Uses    int `json:"uses"`
	// MeanSuccessRate is the mean over the skills that were used; under the
	// documented rules that of the documented rate over all, which exceeds 1.
	MeanSuccessRate float64 `json:"mean_success_rate"`
}

// Stats counts.
func (l *Library) Stats() Stats {
	stats := Stats{Skills: l.Len()}
	stats.Retired = len(l.skills) - stats.Skills
	total, rated := 0.0, 0
	for i := range l.skills {
		s := &l.skills[i]
		stats.Uses += s.TimesUsed
		if s.TimesUsed > 0 || l.rules == tools.Documented {
			total += l.rate(s)
			rated++
		}
	}
	if rated > 0 {
		stats.MeanSuccessRate = total / float64(rated)
	}
	return stats
}

// counts are the counters of a skill.
type counts struct{ successes, uses, found int }

func countsOf(s *Skill) counts { return counts{s.SuccessCount, s.TimesUsed, s.TimesFound} }

func (c counts) minus(d counts) counts {
	return counts{c.successes - d.successes, c.uses - d.uses, c.found - d.found}
}

// Merge adds the skills of another library, as [Library.Add] does; counts are
// added. Libraries of different rules cannot be merged.
func (l *Library) Merge(other *Library) error {
	if err := l.sameRules(other); err != nil {
		return err
	}
	for i := range other.skills {
		if _, err := l.Add(other.skills[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Library) sameRules(other *Library) error {
	if l.rules != other.rules {
		return &tools.Error{Code: tools.Conflict, Where: "/rules", Message: fmt.Sprintf("got libraries of the %s and the %s rules", l.rules, other.rules), Want: "libraries of the same rules"}
	}
	return nil
}

// markSaved records the counts in the file.
func (l *Library) markSaved() {
	l.saved = make(map[string]counts, len(l.skills))
	for i := range l.skills {
		l.saved[l.skills[i].Name] = countsOf(&l.skills[i])
	}
}

// mergeLearnt merges what other has learnt since it was read from the file of
// l: for skills that it read, the growth of their counts.
func (l *Library) mergeLearnt(mine *Library) error {
	if err := l.sameRules(mine); err != nil {
		return err
	}
	for i := range mine.skills {
		s := &mine.skills[i]
		base, known := mine.saved[s.Name]
		at, there := l.byName[s.Name]
		if known && there && l.skills[at].sameEffect(s) {
			l.mergeInto(at, s, countsOf(s).minus(base))
			continue
		}
		if _, err := l.Add(*s); err != nil {
			return err
		}
	}
	return nil
}
