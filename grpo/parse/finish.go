package parse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolgym/tools"
)

// finish judges the attempts and sums the completion up.
func (s *scan) finish(ctx context.Context, to *Reading) {
	if len(s.attempts) > 0 && !formOf(s.family).proseAfter && s.trailing() {
		s.mark(len(s.attempts)-1, DefectTrailingText)
	}
	if s.inContent {
		s.mark(0, DefectCallInContent)
	}
	for i := range s.attempts {
		if a := &s.attempts[i]; a.Family == Auto {
			a.Family = s.family
		}
	}
	*to = Reading{
		Family: s.family, Attempts: s.attempts, Calls: to.Calls[:0], Defects: s.defects,
		Content: s.join(s.segments), Reasoning: s.join(s.reasoning),
		Hidden: append(to.Hidden[:0], s.reasoning...), MadeUp: s.madeUp,
	}
	s.reader.judge(ctx, to)
}

// trailing reports visible text behind the last call.
func (s *scan) trailing() bool {
	for _, segment := range s.segments[min(s.afterCall, len(s.segments)):] {
		if trimTurnEnd(s.text[segment.Start:segment.End]) != "" {
			return true
		}
	}
	return false
}

// join puts pieces of the text together, without the blanks at either end.
func (s *scan) join(spans []Span) string {
	switch len(spans) {
	case 0:
		return ""
	case 1:
		return strings.TrimSpace(s.text[spans[0].Start:spans[0].End])
	}
	var b strings.Builder
	for _, span := range spans {
		b.WriteString(s.text[span.Start:span.End])
	}
	return strings.TrimSpace(b.String())
}

// judge settles tiers, validity, calls and defects of a reading that has its
// attempts.
func (r *Reader) judge(ctx context.Context, reading *Reading) {
	if reading.Attempts == nil {
		reading.Attempts = []Attempt{}
	}
	if reading.Calls == nil {
		reading.Calls = []tools.Call{}
	}
	tier, lost, valid := Strict, false, true
	defects := slices.Clip(reading.Defects)
	left, checked, reported := r.Limits.Steps, true, 0
	for i := range reading.Attempts {
		a := &reading.Attempts[i]
		if err := r.settle(ctx, a, &left); err != nil && checked {
			checked = false
			reading.Failure = &Failure{Kind: "harness", Reason: fmt.Sprintf("the arguments of attempt %d cannot be checked: %v", i, err)}
		}
		if reported += len(a.Violations); reported > r.Limits.Violations && len(a.Violations) > 1 {
			a.Violations = slices.Clone(a.Violations[:1])
		}
		defects = with(defects, a.Defects...)
		if !a.Counts() {
			lost = true
			continue
		}
		reading.Calls = append(reading.Calls, a.Call())
		tier = worse(tier, a.Tier)
		valid = valid && a.SchemaValid != nil && *a.SchemaValid
	}
	if lost || has(defects, DefectFabricated) {
		tier = worse(tier, Envelope)
	}
	switch {
	case len(reading.Attempts) == 0:
		tier = Answer
	case len(reading.Calls) == 0:
		tier = None
	case checked:
		reading.SchemaValid = &valid
	}
	reading.Tier, reading.FormatOK = tier, tier.FormatOK()
	if reading.Defects = defects; defects == nil {
		reading.Defects = []Defect{}
	}
}

// settle gives an attempt its tier, and one that counts its verdict by the
// declared schema. The error says that this takes too many steps,
// or is the context's.
func (r *Reader) settle(ctx context.Context, a *Attempt, left *int) (err error) {
	tier := Strict
	for _, d := range a.Defects {
		tier = worse(tier, d.Tier())
	}
	if tier == Syntax && r.StrictSyntax {
		tier, a.Defects = None, with(a.Defects, DefectSyntaxRejected)
	}
	if a.Status != StatusOK {
		tier = None
	} else if tier == None {
		a.Status = StatusMalformed
	}
	a.Tier = tier
	if a.Counts() {
		err = r.check(ctx, a, left)
	} else {
		a.Value, a.Arguments = nil, nil
	}
	if a.Violations == nil {
		a.Violations = []tools.Violation{}
	}
	if a.UnknownArguments == nil {
		a.UnknownArguments = []string{}
	}
	if a.Defects == nil {
		a.Defects = []Defect{}
	}
	return err
}
