package parse

import (
	"errors"
	"strings"

	"toolgym/internal/strictjson"
)

// start looks at the place where the content begins: forms without markers
// count only there. It answers true when it dealt with what stands there, be
// it a call or a JSON value that is no call and is skipped as a whole.
func (s *scan) start() bool {
	at := s.skipBlanks(s.pos)
	if at >= s.end {
		return false
	}
	if f := formOf(s.family); f.start != nil && f.start(s, at) {
		return true
	}
	switch c := s.text[at]; {
	case c == '{':
		return s.bareObject(at)
	case c == '[':
		return s.bareList(at)
	case isNameByte(c):
		return s.bareLines(at)
	}
	return false
}

// isCall reports an object with a name and arguments, also nested in
// "function". One with a description declares a tool.
func (s *scan) isCall(p parts) bool {
	if p.nested() {
		function := p.function.Value.(map[string]any)
		_, described := function["description"]
		name, _ := function["name"].(string)
		return name != "" && !described
	}
	if p.name == nil || p.described {
		return false
	}
	name, _ := p.name.Value.(string)
	return name != "" && (p.arguments != nil || p.other && s.isDeclared(name))
}

// isNameOnly reports an object that has only a declared tool's name.
func (s *scan) isNameOnly(p parts) bool {
	if p.name == nil || p.arguments != nil || p.other {
		return false
	}
	name, _ := p.name.Value.(string)
	return s.isDeclared(name)
}

// isForeignCall reports another protocol's shape around a declared name:
// {"method":…,"params":…}, {"tool":…,"args":…}.
func (s *scan) isForeignCall(members []strictjson.Member) bool {
	for _, m := range members {
		switch m.Key {
		case "method", "tool", "tool_name", "function", "function_name", "action", "recipient_name", "call":
			if name, _ := m.Value.(string); name != "" && s.isDeclared(name) {
				return true
			}
		}
	}
	return false
}

// startsCall reports whether a payload that cannot be decoded starts like a
// call: a brace, and the key "name" with the name of a tool.
func (s *scan) startsCall(at int) bool {
	head := s.text[at:min(s.end, at+256)]
	before, rest, ok := strings.Cut(head, "name")
	if !ok || strings.Trim(before, "{[ \n\r\t\"'") != "" {
		return false
	}
	rest = strings.TrimLeft(rest, "\"' \n\r\t:")
	end := strings.IndexAny(rest, "\"'")
	return end > 0 && (s.isDeclared(rest[:end]) || s.family == Llama3JSON)
}

// bareStyle is the style of an object without a wrapper.
func (s *scan) bareStyle() style {
	switch {
	case s.family == Auto || s.family == Llama3JSON:
		return llamaStyle(false)
	case formOf(s.family).calls:
		return style{native: ",type,", defects: []Defect{DefectWrongWrapper}}
	}
	return style{defects: []Defect{DefectMissingWrapper}}
}

// bareObject reads objects that are the whole content.
func (s *scan) bareObject(at int) bool {
	members, end, _, failure := s.decode(at)
	if failure != nil {
		if !s.startsCall(at) {
			return false
		}
		s.broken(at, at, "", failure)
		return true
	}
	st := s.bareStyle()
	p := st.sort(members)
	switch {
	case s.isCall(p) || s.isNameOnly(p):
		if s.wholeObjects(at, st) {
			return true
		}
	case !s.ends(end):
	case s.isForeignCall(members):
		s.lose(at, end, StatusMalformed, s.unknownForm())
		return true
	case s.wholeMessage(at, members):
		return true
	}
	s.pos = end
	return true
}

// wholeObjects reads calls up to the end of the content; if anything else
// follows they are no calls.
func (s *scan) wholeObjects(at int, st style) bool {
	saved := *s
	s.joined(at, at, st)
	if next := s.skipBlanks(s.pos); s.foreignCloser(next) > next && s.ends(s.foreignCloser(next)) {
		s.afterLast(s.foreignCloser(next))
		s.swap(DefectMissingWrapper, DefectMissingOpenTag)
	}
	if !s.ends(s.pos) {
		s.restore(&saved)
		return false
	}
	if s.family == Auto {
		s.family = Llama3JSON
	}
	return true
}

// wholeMessage reads the calls of a chat message that was written as text.
func (s *scan) wholeMessage(at int, members []strictjson.Member) bool {
	for _, m := range members {
		list, ok := m.Value.([]any)
		if m.Key != "tool_calls" || !ok || len(list) == 0 {
			continue
		}
		first := len(s.attempts)
		s.list(at+m.Start, wrapper{at: at, list: true, style: style{native: ",id,type,"}})
		s.mark(first, DefectOpenAIShape)
		s.pos, s.shown = s.end, s.end
		if s.family == Auto {
			s.family = Llama3JSON
		}
		return true
	}
	return false
}

// bareList reads a list that is the whole content: of objects, or of call
// expressions.
func (s *scan) bareList(at int) bool {
	next := s.skipBlanks(at + 1)
	if s.wholeCalls(at) {
		return true
	}
	value, size, err := s.reader.Limits.JSON.Prefix(s.text[at:s.end])
	s.budget.decode(size)
	if err != nil {
		if failure, ok := errors.AsType[*strictjson.Error](err); ok && s.startsCall(next) {
			s.broken(at, at, "", failure)
			return true
		}
		return false
	}
	if s.ends(at+size) && s.areCalls(value) {
		first, st := len(s.attempts), s.bareStyle()
		end, _ := s.list(at, wrapper{at: at, list: true, style: st})
		s.afterLast(end)
		if formOf(s.family).calls || s.family == Auto || s.family == Llama3JSON {
			s.mark(first, DefectArrayInTag)
		}
		if s.family == Auto {
			s.family = Llama3JSON
		}
	}
	s.pos = max(s.pos, at+size)
	return true
}

// areCalls reports a list of nothing but calls.
func (s *scan) areCalls(value any) bool {
	list, ok := value.([]any)
	for _, item := range list {
		object, isObject := item.(map[string]any)
		if !isObject || !isCallValue(object) {
			return false
		}
	}
	return ok && len(list) > 0
}

// isCallValue is isCall for a decoded object.
func isCallValue(object map[string]any) bool {
	if function, ok := object["function"].(map[string]any); ok {
		object = function
	}
	name, _ := object["name"].(string)
	_, described := object["description"]
	_, arguments := object["arguments"]
	_, parameters := object["parameters"]
	return name != "" && !described && (arguments || parameters)
}
