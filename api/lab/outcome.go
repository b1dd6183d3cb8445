package lab

import "strings"

// A slot is where a fault is told, beside its field.
type slot struct{ Name, Text string }

// Fault is the place beside a field for what is wrong with it.
func (o outcome) Fault(field string) slot { return slot{field, o.Faults[field]} }

// SchemaWord says whether the calls fit their schemas.
func (o outcome) SchemaWord() string {
	switch {
	case o.Reading.SchemaValid == nil:
		return "—"
	case *o.Reading.SchemaValid:
		return "valid"
	}
	return "broken"
}

// Content and Reasoning are bounded, as the text is.
func (o outcome) Content() string   { return clipped(o.Reading.Content, mostText) }
func (o outcome) Reasoning() string { return clipped(o.Reading.Reasoning, mostText) }

// PartsLine is the reward's parts in a line: F:+1.0 | S:+1.5 | C:+3.0 | L:−0.15.
func (o outcome) PartsLine() string {
	var parts []string
	for _, p := range o.Parts {
		if p.Error == "" {
			parts = append(parts, p.Letter+":"+trimmed(p.Reward, true))
		}
	}
	return strings.Join(parts, " | ")
}

// A legendEntry explains one kind of mark.
type legendEntry struct{ Kind, Sample, Text string }

// Legend explains the kinds of marks that are there.
func (o outcome) Legend() (list []legendEntry) {
	for _, entry := range []legendEntry{
		{placeStrict, "call", "well written"},
		{placeEnvelope, "call", "envelope is off"},
		{placeSyntax, "call", "misspelt, mended"},
		{placeLost, "call", "does not count"},
		{placeArgument, "value", "wrong"},
		{placeReasoning, "text", "reasoning"},
		{placeUnread, "text", "not read"},
	} {
		for _, f := range o.Findings {
			if f.Kind == entry.Kind {
				list = append(list, entry)
				break
			}
		}
	}
	return list
}
