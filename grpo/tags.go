package grpo

import "strings"

// tagKind says what a tag is for: those that belong once into a turn, and
// those that may stand several times.
type tagKind int

const (
	noTag tagKind = iota
	onceTag
	manyTag
)

func kindOf(name string) tagKind {
	switch name {
	case "think", "thinking", "thought", "reasoning", "answer":
		return onceTag
	case "tool_call", "tool_calls", "tool_response", "tool_result":
		return manyTag
	}
	return noTag
}

// measureTags counts, in the text of one turn, the tags beyond the first of
// those that belong once, and the tags with nothing but blanks in between.
func measureTags(text string) (repeated, empty int) {
	seen := [...]string{"", "", "", "", ""}
	for {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			return repeated, empty
		}
		text = text[at+1:]
		name, after := tagName(text)
		kind := kindOf(name)
		if kind == noTag {
			continue
		}
		text = after
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "</"); ok && strings.HasPrefix(rest, name+">") {
			empty++
		}
		if kind == onceTag && !note(seen[:], name) {
			repeated++
		}
	}
}

// note puts name among those seen, and reports whether it is new.
func note(seen []string, name string) bool {
	for i, s := range seen {
		switch s {
		case name:
			return false
		case "":
			seen[i] = name
			return true
		}
	}
	return false
}

// tagName reads "name>" at the start of the text.
func tagName(text string) (name, after string) {
	const longest = 16
	for i := 0; i < len(text) && i < longest; i++ {
		switch c := text[i]; {
		case c == '>':
			return text[:i], text[i+1:]
		case c != '_' && (c < 'a' || c > 'z'):
			return "", text
		}
	}
	return "", text
}
