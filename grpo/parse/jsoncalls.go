package parse

import (
	"encoding/json"
	"errors"
	"strings"

	"toolgym/internal/strictjson"
)

// style says how a family writes a call as a JSON object.
type style struct {
	nameKey string   // "name" where empty
	native  string   // further keys of the native form, each between commas: ",id,"
	tagged  bool     // the object stands in a wrapper: missing arguments mean {}
	defects []Defect // what every call read here has
}

func (st style) name() string {
	if st.nameKey != "" {
		return st.nameKey
	}
	return "name"
}

func (st style) isNative(key string) bool {
	return st.native != "" && strings.Contains(st.native, ","+key+",")
}

// parts are the members of an object that matter to a call.
type parts struct {
	name, arguments, function *strictjson.Member

	id        string
	twice     bool // both arguments and parameters
	typed     bool // "type":"function" that is not native
	foreign   bool // the name stands under another family's key
	other     bool // keys that no call has
	described bool // a description: this declares a tool
}

// sort finds the parts of a call among the members of an object.
func (st style) sort(members []strictjson.Member) (p parts) {
	for i := range members {
		m := &members[i]
		switch m.Key {
		case st.name():
			p.name, p.foreign = m, false
		case "arguments", "parameters":
			p.twice = p.twice || p.arguments != nil
			p.arguments = m
		case "function":
			p.function = m
		case "type":
			p.typed = p.typed || !st.isNative("type")
			p.other = p.other || m.Value != "function"
		case "id", "tool_call_id":
			p.id, _ = m.Value.(string)
			p.other = p.other || !st.isNative(m.Key)
		case "name":
			if p.name == nil {
				p.name, p.foreign = m, true
			}
		case "description":
			p.described, p.other = true, true
		default:
			p.other = true
		}
	}
	return p
}

// nested reports the shape {"type":"function","function":{…}}.
func (p parts) nested() bool {
	if p.function == nil || p.name != nil || p.arguments != nil {
		return false
	}
	_, ok := p.function.Value.(map[string]any)
	return ok
}

// object reads the call that starts with a brace at an offset into a, which is
// not added yet; its span ends where the object does. The failure is that of
// decoding it.
func (s *scan) object(a *Attempt, at int, st style) *strictjson.Error {
	members, end, mends, failure := s.decode(at)
	if failure != nil {
		return failure
	}
	s.call(a, members, at, st)
	a.Span = Span{at, end}
	if mends != 0 {
		a.Defects = with(a.Defects, mendDefects(mends)...)
		if a.Value != nil {
			a.Arguments = strictjson.Append(nil, a.Value)
		}
	}
	return nil
}

// decode reads the object at an offset, strictly if that is possible. Offsets
// of the members are relative to at, the end is not. The list of members is
// overwritten by the next call.
func (s *scan) decode(at int) (members []strictjson.Member, end int, mends strictjson.Mends, failure *strictjson.Error) {
	text := s.text[at:s.end]
	limits := s.reader.Limits.JSON
	members, size, err := limits.AppendObject(s.members[:0], text, &s.spare)
	s.budget.decode(size)
	if err == nil {
		s.members = members
		return members, at + size, 0, nil
	}
	members, size, mends, err = limits.Mend(text)
	s.budget.decode(2 * size)
	if err != nil {
		failure, _ = errors.AsType[*strictjson.Error](err)
		return nil, 0, 0, failure
	}
	return members, at + size, mends, nil
}

// call makes an attempt of an object's members, whose spans are relative to base.
func (s *scan) call(a *Attempt, members []strictjson.Member, base int, st style) {
	p := st.sort(members)
	if p.nested() {
		s.nestedCall(a, p, base, st)
		return
	}
	*a = Attempt{Status: StatusOK, Defects: append([]Defect(nil), st.defects...), ID: p.id}
	if p.name != nil {
		a.Name, _ = p.name.Value.(string)
	}
	a.cutName()
	s.setArguments(a, p, base, st)
	switch {
	case a.Name == "":
		a.fail(StatusMissingName, DefectMissingName)
	case p.twice:
		a.fail(StatusMalformed, DefectAmbiguous)
	case p.arguments == nil && p.other:
		a.fail(StatusMalformed, DefectUnknownEnvelope)
	}
	if a.Status != StatusOK {
		return
	}
	if p.foreign {
		a.Defects = with(a.Defects, DefectWrongWrapper)
	}
	if p.typed {
		a.Defects = with(a.Defects, DefectOpenAIShape)
	}
	if p.other {
		a.Defects = with(a.Defects, DefectExtraKey)
	}
}

// nestedCall reads {"type":"function","function":{…}}.
func (s *scan) nestedCall(a *Attempt, p parts, base int, st style) {
	if s.budget.exhausted() {
		*a = Attempt{Status: StatusMalformed, Defects: []Defect{DefectTooMuchWork}}
		return
	}
	at := base + p.function.Start // p points into what the next line overwrites
	inner, _, _, failure := s.decode(at)
	if failure != nil {
		*a = Attempt{Status: StatusInvalidJSON, Defects: []Defect{DefectInvalidJSON}}
		return
	}
	s.call(a, inner, at, style{tagged: st.tagged, defects: st.defects})
	if a.ID = p.id; a.Status == StatusOK {
		a.Defects = with(a.Defects, DefectOpenAIShape)
	}
}

// setArguments takes the arguments over, or says why that is impossible.
func (s *scan) setArguments(a *Attempt, p parts, base int, st style) {
	if p.arguments == nil {
		if !p.other {
			a.noArguments(st)
		}
		return
	}
	start := base + p.arguments.Start
	a.Raw = s.text[start : base+p.arguments.End]
	switch value := p.arguments.Value.(type) {
	case map[string]any:
		a.Value, a.Arguments = value, json.RawMessage(a.Raw)
	case nil:
		a.noArguments(st)
	case string:
		if strings.TrimSpace(value) == "" {
			a.noArguments(st)
		} else {
			s.argumentsFromString(a, value)
		}
	default:
		a.fail(StatusMalformed, DefectArgumentsNotObject)
	}
}

// noArguments reads missing arguments as {} where the object is tagged.
func (a *Attempt) noArguments(st style) {
	a.Value, a.Arguments = map[string]any{}, json.RawMessage("{}")
	a.Defects = with(a.Defects, DefectArgumentsMissing)
	if !st.tagged {
		a.Status, a.Value, a.Arguments = StatusMalformed, nil, nil
	}
}

// argumentsFromString decodes arguments that were encoded twice.
func (s *scan) argumentsFromString(a *Attempt, text string) {
	value, err := s.reader.Limits.JSON.DecodeString(text)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		a.fail(StatusMalformed, DefectArgumentsNotObject)
		return
	}
	a.Value, a.Arguments = object, json.RawMessage(text)
	a.Defects = with(a.Defects, DefectArgumentsString)
}

// fail loses the attempt for one reason; nothing else is held against it.
func (a *Attempt) fail(status Status, defects ...Defect) {
	a.Status, a.Defects = status, defects
	a.Value, a.Arguments = nil, nil
}

// cutName cuts control tokens that are glued to the name.
func (a *Attempt) cutName() {
	cut := len(a.Name)
	for _, token := range [...]string{"<|", "<｜"} {
		if i := strings.Index(a.Name, token); i >= 0 {
			cut = min(cut, i)
		}
	}
	if cut < len(a.Name) {
		a.Name = a.Name[:cut]
		a.Defects = with(a.Defects, DefectControlToken)
	}
}

func mendDefects(mends strictjson.Mends) (defects []Defect) {
	for _, kind := range mends.Kinds() {
		defects = append(defects, Defect(kind))
	}
	return defects
}

// takeArguments makes an object's members the arguments.
func (a *Attempt) takeArguments(members []strictjson.Member, mends strictjson.Mends) {
	a.Value = make(map[string]any, len(members))
	for _, m := range members {
		a.Value[m.Key] = m.Value
	}
	a.Arguments = json.RawMessage(a.Raw)
	if mends != 0 {
		a.Arguments = strictjson.Append(nil, a.Value)
		a.Defects = with(a.Defects, mendDefects(mends)...)
	}
}

// wrapper is what stands around JSON calls: <tool_call> and its closer, for
// instance.
type wrapper struct {
	at, body int    // offsets of the opener and of what follows it
	closer   string // empty where the form has none
	one      bool   // a single object is native
	list     bool   // a list of objects is native
	style    style
}

// payload reads the calls in a wrapper and the wrapper's end. It answers false,
// having done nothing, where no JSON object or list follows the opener. The end
// of every object is found by decoding it: a closer may stand inside a string.
func (s *scan) payload(w wrapper) bool {
	first := len(s.attempts)
	at := s.skipBlanks(w.body)
	at, fenced := s.openFence(at)
	var end int
	var ok bool
	switch {
	case s.hasAt(at, "{"):
		end, ok = s.objects(at, w)
		if ok && !w.one {
			s.mark(first, DefectMissingArray)
		}
	case s.hasAt(at, "["):
		end, ok = s.list(at, w)
		if !w.list {
			s.mark(first, DefectArrayInTag)
		}
	default:
		return false
	}
	if fenced {
		end = s.closeFence(end)
		s.mark(first, DefectCodeFence)
	}
	if ok {
		s.closeWrapper(end, w.closer)
	}
	return true
}

// nextObject adds the attempt at an offset, or keeps it as lost where it could
// not be decoded. start is where the attempt's span begins.
func (s *scan) nextObject(start, at int, w wrapper) (end int, ok bool) {
	var a Attempt
	if failure := s.object(&a, at, w.style); failure != nil {
		s.broken(start, at, w.closer, failure)
		return s.pos, false
	}
	a.Span.Start = start
	s.add(&a)
	return a.Span.End, true
}

// objects reads one object, and those that follow it in the same wrapper. ok
// is false when one of them could not be decoded; the position is then where
// the reading goes on.
func (s *scan) objects(at int, w wrapper) (end int, ok bool) {
	first, start := len(s.attempts), w.at
	for s.afford() {
		if end, ok = s.nextObject(start, at, w); !ok {
			return end, false
		}
		end = s.strayClosers(end, w.closer)
		next := s.skipBlanks(end)
		if s.hasAt(next, ",") || s.hasAt(next, ";") {
			next = s.skipBlanks(next + 1)
		}
		if !s.hasAt(next, "{") {
			if len(s.attempts) > first+1 {
				s.mark(first, DefectSeveralInTag)
			}
			return end, true
		}
		s.drop(next)
		at, start = next, next
	}
	return s.pos, false
}

// strayClosers skips closing brackets that close nothing, if the wrapper ends
// behind them.
func (s *scan) strayClosers(at int, closer string) int {
	end := s.skipBlanks(at)
	if !s.hasAt(end, "}") && !s.hasAt(end, "]") {
		return at
	}
	for s.hasAt(end, "}") || s.hasAt(end, "]") {
		end = s.skipBlanks(end + 1)
	}
	s.budget.search(end - at)
	if !s.ends(end) && (closer == "" || !s.hasAt(end, closer)) {
		return at
	}
	s.mark(len(s.attempts)-1, DefectStrayCloser)
	return end
}

// list reads the calls of a list one by one, so that those before a broken one
// are kept.
func (s *scan) list(at int, w wrapper) (end int, ok bool) {
	next := s.skipBlanks(at + 1)
	if s.hasAt(next, "]") {
		s.lose(w.at, next+1, StatusMissingName, DefectMissingName)
		return next + 1, true
	}
	for start := w.at; s.afford(); start = next {
		if end, ok = s.nextObject(start, next, w); !ok {
			return end, false
		}
		next = s.skipBlanks(end)
		if s.hasAt(next, "}") {
			s.mark(len(s.attempts)-1, DefectStrayCloser)
			next = s.skipBlanks(next + 1)
		}
		next, ok = s.betweenItems(next)
		s.drop(next)
		if !ok {
			return next, true
		}
	}
	return s.pos, false
}

// betweenItems reads what stands between two calls of a list; more is false
// at the list's end.
func (s *scan) betweenItems(at int) (next int, more bool) {
	last := len(s.attempts) - 1
	switch {
	case s.hasAt(at, "]"):
		return at + 1, false
	case s.hasAt(at, ","):
		next = s.skipBlanks(at + 1)
		if s.hasAt(next, "]") {
			s.mark(last, DefectTrailingComma)
			return next + 1, false
		}
		if next < s.end {
			return next, true
		}
	case s.hasAt(at, ";"), s.hasAt(at, "{"):
		s.mark(last, DefectSeparator)
		if s.text[at] == ';' {
			at = s.skipBlanks(at + 1)
		}
		return at, true
	}
	s.mark(last, DefectMissingBracket)
	return at, false
}

// closeWrapper reads the closer behind the last call's payload, or says that
// it is missing.
func (s *scan) closeWrapper(at int, closer string) {
	last := &s.attempts[len(s.attempts)-1]
	last.Span.End = max(last.Span.End, at)
	next := s.skipBlanks(at)
	switch end := s.foreignCloser(next); {
	case closer == "":
	case s.hasAt(next, closer):
		last.Span.End = next + len(closer)
	case end > next:
		last.Span.End = end
		last.Defects = with(last.Defects, DefectMissingCloseTag)
	default:
		last.Defects = with(last.Defects, DefectMissingCloseTag)
		if c := s.find(closer, next); c >= 0 && c <= s.nextMarkOffset(next) {
			last.Span.End = c + len(closer)
			last.Defects = with(last.Defects, DefectTrailingText)
		}
	}
	s.consume(last.Span.Start, last.Span.End)
	s.afterCall = len(s.segments)
}

// foreignCloser returns the end of a closing tag, whichever it is, or at.
func (s *scan) foreignCloser(at int) int {
	if !s.hasAt(at, "</") {
		return at
	}
	end := at + 2
	for end < s.end && end < at+32 && (s.text[end] >= 'a' && s.text[end] <= 'z' || s.text[end] == '_') {
		end++
	}
	if end > at+2 && s.hasAt(end, ">") {
		return end + 1
	}
	return at
}

// openFence skips the first line of a fence of code.
func (s *scan) openFence(at int) (int, bool) {
	if !s.hasAt(at, "```") {
		return at, false
	}
	end := s.end
	for _, word := range [...]string{"\n", "{", "["} {
		if i := s.find(word, at+len("```")); i >= 0 {
			end = min(end, i)
		}
	}
	return s.skipBlanks(end), true
}

func (s *scan) closeFence(at int) int {
	if next := s.skipBlanks(at); s.hasAt(next, "```") {
		return next + 3
	}
	return at
}

// broken keeps an attempt whose payload could not be decoded. The reading goes
// on behind its closer, or with the next marker.
func (s *scan) broken(start, at int, closer string, failure *strictjson.Error) {
	next, closed := s.nextMarkOffset(at+1), false
	c := -1
	if closer != "" {
		c = s.find(closer, at)
	}
	switch {
	case c >= 0 && c <= next:
		next, closed = c+len(closer), true
	case c < 0 && failure.Cut():
		next = s.end
	}
	status, defect := s.diagnose(failure, at+failure.Offset, closer, closed)
	s.lose(start, next, status, defect)
}

// diagnose says what a decoder's error means for an attempt.
func (s *scan) diagnose(failure *strictjson.Error, at int, closer string, closed bool) (Status, Defect) {
	status := StatusInvalidJSON
	if !closed && failure.Cut() {
		if s.cutOff {
			return StatusTruncated, DefectTruncated
		}
		status = StatusUnclosed
	}
	switch failure.Kind {
	case strictjson.UnexpectedEnd:
		return status, DefectUnbalanced
	case strictjson.Unexpected, strictjson.UnescapedQuote:
		if closer != "" && s.hasAt(at, closer) || at < s.end && (s.text[at] == '}' || s.text[at] == ']') {
			return status, DefectUnbalanced
		}
		if _, ok := s.markAt(at); ok {
			return status, DefectUnbalanced
		}
		if failure.Kind == strictjson.UnescapedQuote {
			return status, DefectUnescapedQuote
		}
	case strictjson.Unterminated, strictjson.BadEscape, strictjson.NonFinite, strictjson.DuplicateKey,
		strictjson.InvalidUTF8, strictjson.TooDeep, strictjson.TooLarge, strictjson.Kind(DefectPositional):
		return status, Defect(failure.Kind)
	}
	return status, DefectInvalidJSON
}
