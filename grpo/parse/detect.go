package parse

import (
	"errors"
	"strings"

	"toolgym/internal/strictjson"
)

// sniff says which family an opener belongs to. Several share one: then what
// follows it decides, in the fixed order of the cases.
func (s *scan) sniff(m mark) Family {
	switch m.token {
	case tagToolCall:
		return s.sniffToolCall(m)
	case tagFunctionEquals, tagParameterEquals:
		return Qwen3Coder
	case tagArgKey:
		return GLM45
	case tagFunctionCalls:
		return Olmo3
	case pipePythonTag:
		return Llama3JSON
	case pipePythonStart:
		return Llama4
	case pipeToolCallStart:
		return LFM2
	case pipeToolCall:
		return Granite
	case bracketToolCalls:
		return Mistral
	case wordFunctools:
		return Phi4Mini
	case chevrons:
		return Functionary
	case pipeStartAction:
		return Command
	case deepSeekCalls, deepSeekCall:
		return s.sniffDeepSeek(m)
	case dsmlCalls, dsmlInvoke:
		return DeepSeekV32
	case kimiSection, kimiCall:
		return KimiK2
	case gemmaToolCall:
		return Gemma4
	case gemmaFunctionCall:
		return FunctionGemma
	case harmonyChannel, harmonyStart:
		return Harmony
	}
	return Hermes
}

func (s *scan) sniffToolCall(m mark) Family {
	at := s.skipBlanks(m.end)
	switch {
	case s.hasAt(at, functionOpen), s.hasAt(at, parameterOpen):
		return Qwen3Coder
	case s.hasAt(at, "{"), s.hasAt(at, "["), s.hasAt(at, "```"):
		return Hermes
	}
	if _, _, ok := s.glmName(m.end); ok {
		return GLM45
	}
	return Hermes
}

// sniffDeepSeek tells the form with a type word and a fence from the later one.
func (s *scan) sniffDeepSeek(m mark) Family {
	at := s.skipBlanks(m.end)
	if words, size, _ := deepSeekToken(s.text[at:s.end]); words == "tool call begin" {
		at += size
	}
	if word, ok := strings.CutPrefix(s.text[at:s.end], "function"); ok && strings.HasPrefix(word, "<") {
		return DeepSeekR1
	}
	return DeepSeekV31
}

// lastResort looks at a text without any attempt once more: for a list of calls
// behind prose, and for what looks like a call in no form that is read here.
func (s *scan) lastResort() {
	if (s.family == Auto || formOf(s.family).calls) && s.trailingCalls() {
		return
	}
	at, end, ok := s.unknownCall()
	if !ok {
		return
	}
	s.attempts = append(s.attempts, Attempt{Family: s.family, Status: StatusMalformed, Defects: []Defect{s.unknownForm()},
		Span: Span{at, end}, Raw: clipRaw(s.text[at:end])})
}

// unknownCall finds a declared name where only a call would put it: as a tag,
// as an attribute, or behind the word of an agent's protocol. Fences with prose
// around them are left out.
func (s *scan) unknownCall() (at, end int, ok bool) {
	from := s.begin
	if n := len(s.reasoning); n > 0 {
		from = s.reasoning[n-1].End
	}
	documented := s.documented
	for i := from; i < s.end; i++ {
		for len(documented) > 0 && i >= documented[0].End {
			documented = documented[1:]
		}
		if s.namesTool(i, i == from || s.text[i-1] == '\n') && (len(documented) == 0 || i < documented[0].Start) {
			return i, s.end, true
		}
	}
	return 0, 0, false
}

// namesTool reports a declared name in the place of a tag's, <f>, <f a="1"> or
// <|f|>, of an attribute's, name="f", of a recipient's, to=functions.f, or behind
// a word at the start of a line, "Action: f".
func (s *scan) namesTool(at int, lineStart bool) bool {
	var before, after string
	switch s.text[at] {
	case '<':
		before, after = "<", "> /"
		if s.hasAt(at, "<|") {
			before, after = "<|", "|"
		}
	case 'n':
		before, after = "name=", "\"'"
		if !s.hasAt(at, before) || !s.hasAt(at+len(before), `"`) && !s.hasAt(at+len(before), "'") {
			return false
		}
		at++ // the quote
	case 't':
		if before = "to=functions."; !s.hasAt(at, before) {
			return false
		}
	case 'A', 'T', 'F', 'C':
		if before = protocolWord(s.text[at:s.end]); before == "" || !lineStart {
			return false
		}
	default:
		return false
	}
	start := at + len(before)
	end := start
	for end < s.end && end < start+maxHeader && isNameByte(s.text[end]) {
		end++
	}
	followed := after == "" || end < s.end && strings.IndexByte(after, s.text[end]) >= 0
	return followed && s.isDeclared(s.text[start:end])
}

// protocolWord is the word with which a line of an agent's protocol starts.
func protocolWord(line string) string {
	for _, word := range [...]string{"Action: ", "Tool: ", "Function: ", "Tool call: ", "Tool Call: ", "Call: "} {
		if strings.HasPrefix(line, word) {
			return word
		}
	}
	return ""
}

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

// foreign deals with an opener that does not start an attempt in the family's
// own form. Around an object with the name and arguments of a declared tool,
// another wrapper is an envelope fault. Another family's form is an attempt
// that cannot count. Everything else is text.
func (s *scan) foreign(m mark) bool {
	if formOf(s.family).calls && s.foreignCalls(m) {
		return true
	}
	if done, ok := s.foreignJSON(m); done {
		return ok
	}
	if s.foreignForm(m) {
		return true
	}
	return s.opaque(m)
}

// foreignJSON reads a JSON payload behind the opener. done is false when there
// is none; ok is false when it is no call, and the marker is text.
func (s *scan) foreignJSON(m mark) (done, ok bool) {
	at, _ := s.openFence(s.skipBlanks(m.end))
	if m.token == wordFunctools {
		at = m.end
	}
	if !s.hasAt(at, "{") && !s.hasAt(at, "[") || m.token == harmonyChannel || m.token == harmonyStart {
		return false, false
	}
	value, size, err := s.reader.Limits.JSON.Prefix(s.text[at:s.end])
	s.budget.decode(size)
	first := len(s.attempts)
	if err != nil {
		if failure, ok := errors.AsType[*strictjson.Error](err); !ok || !s.mentionsTool(at, m.closer, failure) {
			return false, false
		}
	} else if !s.isCallPayload(value) {
		s.pos = at + size
		return true, true
	}
	done = s.payload(wrapper{at: m.at, body: m.end, closer: m.closer, one: true, list: true, style: style{tagged: true, defects: []Defect{DefectWrongWrapper}}})
	for i := first; i < len(s.attempts); i++ {
		if a := &s.attempts[i]; a.Status == StatusOK && !s.isDeclared(a.Name) {
			a.fail(StatusMalformed, DefectUnknownEnvelope)
		}
	}
	if end := s.specialToken(s.skipBlanks(s.pos)); m.closer == "" && end > s.pos && len(s.attempts) > first {
		s.afterLast(end)
	}
	return done, true
}

// specialToken is the end of a token <|word|> at an offset that no form uses, or
// the offset: a marker's unknown closer.
func (s *scan) specialToken(at int) int {
	limit := min(s.end, at+64)
	if _, known := s.markAt(at); known || !s.hasAt(at, "<|") {
		return at
	}
	if i := strings.Index(s.text[at:limit], "|>"); i >= 0 {
		return at + i + len("|>")
	}
	return at
}

// isCallPayload reports a call, or a list of them.
func (s *scan) isCallPayload(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		name, _ := v["name"].(string)
		return isCallValue(v) || len(v) == 1 && s.isDeclared(name)
	case []any:
		return s.areCalls(v)
	}
	return false
}

// mentionsTool reports whether a payload that cannot be decoded has a
// declared tool's name in it; otherwise it is text in braces.
func (s *scan) mentionsTool(at int, closer string, failure *strictjson.Error) bool {
	end := min(s.end, at+min(failure.Offset, maxHeader)+64)
	if closer != "" {
		if c := s.find(closer, at); c >= 0 {
			end = min(end, c)
		}
	}
	return s.mentions(s.text[at:end])
}

func (s *scan) mentions(text string) bool {
	s.budget.search(len(text))
	return s.reader.names().in(text)
}

// foreignCalls reads a list of declared calls in another wrapper, for a family
// whose payload is such a list.
func (s *scan) foreignCalls(m mark) bool {
	at := s.skipBlanks(m.end)
	if !s.startsCalls(at) && !s.isDeclared(s.expressionName(at)) {
		return false
	}
	saved := *s
	first := len(s.attempts)
	s.callsBetween(m)
	if !s.allDeclared(first) {
		s.restore(&saved)
		return false
	}
	s.mark(first, DefectWrongWrapper)
	return true
}

// foreignForm reads another family's form, which does not count under the
// declared one.
func (s *scan) foreignForm(m mark) bool {
	family := s.sniff(m)
	form := formOf(family)
	if family == s.family || form.read == nil || !form.opens.has(m.token) {
		return false
	}
	own, first := s.family, len(s.attempts)
	s.family = family
	ok := form.read(s, m)
	s.family = own
	for i := first; ok && i < len(s.attempts); i++ {
		if a := &s.attempts[i]; a.Status == StatusOK {
			a.fail(StatusMalformed, DefectUnknownEnvelope)
		}
	}
	return ok && len(s.attempts) > first
}

// opaque deals with an opener whose payload is in no known form.
func (s *scan) opaque(m mark) bool {
	next := s.nextMarkOffset(m.end)
	end, closed := next, false
	if m.closer != "" {
		if c := s.find(m.closer, m.end); c >= 0 && c <= next {
			end, closed = c, true
		}
	}
	payload := strings.TrimSpace(s.text[m.end:end])
	after := end
	if closed {
		after += len(m.closer)
	}
	switch {
	case payload == "" && closed:
		return s.emptyTag(m, after)
	case payload == "" && s.cutOff && next == s.end && m.token != alias:
		s.lose(m.at, s.end, StatusTruncated, DefectTruncated)
		return true
	case payload == "" || !s.looksLikePayload(m, payload, closed):
		return false
	}
	s.lose(m.at, after, StatusMalformed, s.unknownForm())
	return true
}

// unknownForm is the defect of an attempt in no form that is read here. Under
// auto it may be a blind spot of this package, and is counted apart.
func (s *scan) unknownForm() Defect {
	if s.family == Auto {
		return DefectNotRecognised
	}
	return DefectUnknownEnvelope
}

// emptyTag deals with a tag without a payload. In prose it is text; where
// there is nothing else, it is an attempt without a name.
func (s *scan) emptyTag(m mark, after int) bool {
	if _, next := s.markAt(s.skipBlanks(after)); !s.nothingShown(m.at) || !next && !s.ends(after) {
		return false
	}
	s.lose(m.at, after, StatusMissingName, DefectMissingName)
	return true
}

// looksLikePayload tells an attempt in an unknown form from a tag in prose.
func (s *scan) looksLikePayload(m mark, payload string, closed bool) bool {
	head := payload[:min(len(payload), maxHeader)]
	word := head
	if i := strings.IndexFunc(head, func(r rune) bool { return r > 0x7f || !isNameByte(byte(r)) }); i >= 0 {
		word = head[:i]
	}
	if m.token == chevrons {
		return false // Python's prompt in a listing
	}
	special := s.text[m.at+1] == '|' || m.token == bracketToolCalls
	switch {
	case s.isDeclared(word), special && s.nothingShown(m.at):
		return true
	case !closed:
		return false
	case m.token == alias:
		return s.mentions(head)
	}
	return strings.ContainsAny(head, "{(<=:") || s.mentions(head)
}
