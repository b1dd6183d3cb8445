package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"toolgym/internal/strictjson"
)

// A leaf is a violation that has no causes of its own. What it says is written
// when it is known to be among those that are reported.
type leaf struct {
	Violation

	kind jsonschema.ErrorKind
}

// leaves lists the violations of an error in order, of more than most the first;
// a negative most means all.
func leaves(e *jsonschema.ValidationError, most int) []Violation {
	l := leafList{most: most, printer: message.NewPrinter(language.English)}
	l.collect(e)
	l.cut()
	list := make([]Violation, len(l.leaves))
	for i, one := range l.leaves {
		list[i] = one.Violation
	}
	return list
}

type leafList struct {
	most    int
	printer *message.Printer
	leaves  []leaf
	full    bool      // there are most, and what comes after the last of them is left out
	last    Violation // of most
}

func (l *leafList) collect(e *jsonschema.ValidationError) {
	for _, cause := range e.Causes {
		l.collect(cause)
	}
	if len(e.Causes) > 0 {
		return
	}
	keyword := "schema"
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		keyword = path[0] // a property that depends on another comes second
	}
	found := Violation{Pointer: strictjson.Pointer(e.InstanceLocation...), Keyword: keyword}
	if l.full && cmp.Or(cmp.Compare(found.Pointer, l.last.Pointer), cmp.Compare(found.Keyword, l.last.Keyword)) > 0 {
		return
	}
	l.leaves = append(l.leaves, leaf{found, e.ErrorKind})
	if l.most >= 0 && len(l.leaves) >= 4*l.most {
		l.cut()
	}
}

// cut puts the leaves in order and leaves no more than most.
func (l *leafList) cut() {
	for i := range l.leaves {
		if one := &l.leaves[i]; one.kind != nil {
			one.Message, one.kind = said(one.kind, l.printer), nil
		}
	}
	slices.SortFunc(l.leaves, func(a, b leaf) int {
		return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Message, b.Message))
	})
	if l.most >= 0 && len(l.leaves) > l.most {
		l.leaves = l.leaves[:l.most]
		l.full, l.last = true, l.leaves[l.most-1].Violation
	}
}

// The bounds of one message: it quotes what the model and the schema say.
const (
	maxListed  = 50  // names or values
	maxQuoted  = 80  // bytes of one of them
	maxMessage = 512 // bytes
)

// said is the message of a violation. Those that list names or values are made
// from the first of them only, so that a message takes no longer than its length.
func said(broken jsonschema.ErrorKind, p *message.Printer) string {
	if text, ok := outside(broken); ok {
		return text
	}
	more := 0
	switch k := broken.(type) {
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties) // they come in a map's order
		broken = &kind.AdditionalProperties{Properties: clipNames(k.Properties, &more)}
	case *kind.Required:
		broken = &kind.Required{Missing: clipNames(k.Missing, &more)}
	case *kind.Dependency:
		broken = &kind.Dependency{Prop: clipQuoted(k.Prop), Missing: clipNames(k.Missing, &more)}
	case *kind.DependentRequired:
		broken = &kind.DependentRequired{Prop: clipQuoted(k.Prop), Missing: clipNames(k.Missing, &more)}
	case *kind.PropertyNames:
		broken = &kind.PropertyNames{Property: clipQuoted(k.Property)}
	case *kind.Enum:
		broken = &kind.Enum{Want: clipValues(k.Want, &more)}
	case *kind.Const:
		broken = &kind.Const{Want: clipValue(k.Want)}
	case *kind.Pattern:
		broken = &kind.Pattern{Got: clipQuoted(k.Got), Want: clipQuoted(k.Want)}
	case *kind.Format:
		broken = &kind.Format{Got: clipValue(k.Got), Want: k.Want, Err: k.Err}
	}
	text := clipMessage(broken.LocalizedString(p))
	if more > 0 {
		text = fmt.Sprintf("%s (and %d more)", text, more)
	}
	return text
}

// clipNames keeps the first names; more is how many others there are.
func clipNames(names []string, more *int) []string {
	kept := make([]string, min(len(names), maxListed))
	for i := range kept {
		kept[i] = clipQuoted(names[i])
	}
	*more = len(names) - len(kept)
	return kept
}

// clipValues is clipNames for the values of an enum.
func clipValues(values []any, more *int) []any {
	if slices.ContainsFunc(values, isCompound) {
		return []any{nil, []any{}} // none of them is quoted then
	}
	kept := make([]any, min(len(values), maxListed))
	for i := range kept {
		kept[i] = clipValue(values[i])
	}
	*more = len(values) - len(kept)
	return kept
}

func isCompound(value any) bool { return kindOf(value)&(kindArray|kindObject) != 0 }

func clipValue(value any) any {
	switch v := value.(type) {
	case string:
		return clipQuoted(v)
	case json.Number:
		return json.Number(clipQuoted(string(v)))
	}
	return value
}

func clipQuoted(text string) string { return clipTo(text, maxQuoted) }

func clipMessage(text string) string { return clipTo(text, maxMessage) }

func clipTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
