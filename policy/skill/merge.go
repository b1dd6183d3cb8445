package skill

import (
	"fmt"

	"toolgym/tools"
)

// counts are what grows in a skill.
type counts struct{ successes, uses, found int }

func countsOf(s *Skill) counts { return counts{s.SuccessCount, s.TimesUsed, s.TimesFound} }

func (c counts) minus(d counts) counts {
	return counts{c.successes - d.successes, c.uses - d.uses, c.found - d.found}
}

// Merge adds the skills of a library that was learnt apart from this one, as
// [Library.Add] does: counts add up, nothing is lost. Libraries of different
// rules can not be merged.
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
		return &tools.Error{Code: tools.Conflict, Where: "/rules", Message: fmt.Sprintf("a library of the %s rules and one of the %s rules", l.rules, other.rules), Want: "libraries of the same rules"}
	}
	return nil
}

// remember notes the counts as the file has them.
func (l *Library) remember() {
	l.saved = make(map[string]counts, len(l.skills))
	for i := range l.skills {
		l.saved[l.skills[i].Name] = countsOf(&l.skills[i])
	}
}

// takeIn brings into l, which was read from a file, what mine has learnt since
// it was read from the same file: of skills that it knew then, what the counts
// grew by.
func (l *Library) takeIn(mine *Library) error {
	if err := l.sameRules(mine); err != nil {
		return err
	}
	for i := range mine.skills {
		s := &mine.skills[i]
		base, known := mine.saved[s.Name]
		at, there := l.byName[s.Name]
		if known && there && l.skills[at].sameEffect(s) {
			l.absorb(at, s, countsOf(s).minus(base))
			continue
		}
		if _, err := l.Add(*s); err != nil {
			return err
		}
	}
	return nil
}
