package parse

import (
	"strconv"
	"strings"
)

// Hermes, also Qwen 2.5 and 3:
//
//	<tool_call>
//	{"name": "f", "arguments": {"a": 1}}
//	</tool_call>
//
// repeated for parallel calls; prose may stand before.
func hermesForm() form {
	return form{opens: tokenSet(tagToolCall), read: (*scan).hermes, render: renderHermes}
}

func (s *scan) hermes(m mark) bool {
	return s.payload(wrapper{at: m.at, body: m.end, closer: m.closer, one: true, style: style{tagged: true}})
}

func renderHermes(calls []renderable) (string, error) {
	return renderEach(calls, "\n", func(c renderable) string {
		return "<tool_call>\n" + c.object("name", "arguments") + "\n</tool_call>"
	}), nil
}

// Granite 3: a token and a list,
//
//	<|tool_call|>[{"name": "f", "arguments": {"a": 1}}]
//
// and <tool_call>[…] in 3.1. Granite 4 uses the hermes envelope.
func graniteForm() form {
	return form{opens: tokenSet(pipeToolCall, tagToolCall), read: (*scan).granite, render: renderGranite}
}

func (s *scan) granite(m mark) bool {
	w := wrapper{at: m.at, body: m.end, list: true, style: style{tagged: true}}
	if m.token == tagToolCall {
		w.one, w.closer = true, m.closer
		if s.hasAt(s.skipBlanks(m.end), "[") && s.find(m.closer, m.end) < 0 {
			w.closer = ""
		}
	}
	return s.payload(w)
}

// renderGranite writes the form of Granite 3.
func renderGranite(calls []renderable) (string, error) {
	return "<|tool_call|>" + renderList(calls), nil
}

// Phi-4-mini: a word and a list,
//
//	functools[{"name": "f", "arguments": {"a": 1}}]
func phi4MiniForm() form {
	return form{opens: tokenSet(wordFunctools), read: (*scan).phi4Mini, render: renderPhi4Mini}
}

func (s *scan) phi4Mini(m mark) bool {
	if !s.hasAt(s.skipBlanks(m.end+1), "{") {
		return false
	}
	return s.payload(wrapper{at: m.at, body: m.end, list: true, style: style{tagged: true}})
}

func renderPhi4Mini(calls []renderable) (string, error) {
	return "functools" + renderList(calls), nil
}

// Command (Cohere, also North): a list between two tokens, with key names of
// its own,
//
//	<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>
func commandForm() form {
	return form{opens: tokenSet(pipeStartAction), read: (*scan).command, render: renderCommand}
}

func (s *scan) command(m mark) bool {
	return s.payload(wrapper{at: m.at, body: m.end, closer: m.closer, list: true,
		style: style{nameKey: "tool_name", native: ",tool_call_id,", tagged: true}})
}

func renderCommand(calls []renderable) (string, error) {
	index := -1
	return "<|START_ACTION|>[" + renderEach(calls, ", ", func(c renderable) string {
		index++
		return `{"tool_call_id": "` + strconv.Itoa(index) + `", ` + c.object("tool_name", "parameters")[1:]
	}) + "]<|END_ACTION|>", nil
}

// Mistral:
//
//	[TOOL_CALLS][{"name": "f", "arguments": {"a": 1}}]
//
// and from tokenizer v11 on, repeated for parallel calls,
//
//	[TOOL_CALLS]f[ARGS]{"a": 1}
//
// with [CALL_ID] and an identifier before [ARGS] in some versions.
func mistralForm() form {
	return form{opens: tokenSet(bracketToolCalls), read: (*scan).mistral, render: renderMistral}
}

func (s *scan) mistral(m mark) bool {
	at := s.skipBlanks(m.end)
	if s.hasAt(at, "[") || s.hasAt(at, "{") || s.hasAt(at, "```") {
		return s.payload(wrapper{at: m.at, body: m.end, list: true, style: style{native: ",id,", tagged: true}})
	}
	return s.namedObject(m, at)
}

// namedObject reads f[ARGS]{…}.
func (s *scan) namedObject(m mark, at int) bool {
	brace := s.find("{", at)
	if brace < 0 || brace-at > maxHeader {
		return s.cutHeader(m, at)
	}
	header := s.text[at:brace]
	if strings.ContainsAny(strings.TrimSpace(header), "\n\"(") {
		return false
	}
	var defects []Defect
	name, marked := strings.CutSuffix(strings.TrimSpace(header), "[ARGS]")
	if !marked {
		defects = []Defect{DefectSeparator}
	}
	name, id, _ := strings.Cut(name, "[CALL_ID]")
	s.argumentsOf(m.at, brace, strings.TrimSpace(name), id, "", defects)
	return true
}

// cutHeader keeps a call that the token limit cut off before its arguments.
func (s *scan) cutHeader(m mark, at int) bool {
	if !s.cutOff || s.end-at > maxHeader || s.nextMarkOffset(at) < s.end {
		return false
	}
	s.lose(m.at, s.end, StatusTruncated, DefectTruncated)
	return true
}

// argumentsOf reads the object at an offset as the arguments of a call whose
// name stands before it, and adds the attempt. It answers whether the object
// could be decoded; the position is behind it then.
func (s *scan) argumentsOf(start, at int, name, id, closer string, defects []Defect) bool {
	members, end, mends, failure := s.decode(at)
	if failure != nil {
		s.broken(start, at, closer, failure)
		return false
	}
	a := Attempt{Status: StatusOK, Name: name, ID: id, Raw: s.text[at:end], Span: Span{start, end}, Defects: defects}
	a.takeArguments(members, mends)
	a.cutName()
	if a.Name == "" {
		a.fail(StatusMissingName, DefectMissingName)
	}
	s.add(&a)
	return true
}

// renderMistral writes the form of v11.
func renderMistral(calls []renderable) (string, error) {
	return renderEach(calls, "", func(c renderable) string { return "[TOOL_CALLS]" + c.name + "[ARGS]" + c.arguments }), nil
}

// Functionary v3: parts that start with their recipient,
//
//	>>>all
//	prose
//	>>>f
//	{"a": 1}
//
// The first >>> is often part of the prompt and may be missing.
func functionaryForm() form {
	return form{opens: tokenSet(chevrons), read: (*scan).functionary, start: (*scan).functionaryStart, render: renderFunctionary, proseAfter: true}
}

func (s *scan) functionary(m mark) bool {
	name, next, ok := s.recipient(m.end)
	switch {
	case s.asked != Functionary && (!ok || !s.isDeclared(name) || !s.hasAt(s.skipBlanks(next), "{")):
		return false // in another family, three chevrons are a quotation
	case !ok:
		return s.cutHeader(m, m.end)
	}
	return s.part(m.at, next, name)
}

// functionaryStart reads a first part whose >>> is missing.
func (s *scan) functionaryStart(at int) bool {
	name, next, ok := s.recipient(at)
	if !ok || !s.isDeclared(name) && (name != "all" || at != s.skipBlanks(s.begin)) {
		return false
	}
	return s.part(at, next, name)
}

// recipient reads the word on the rest of a line.
func (s *scan) recipient(at int) (name string, next int, ok bool) {
	limit := min(s.end, at+maxHeader)
	line := strings.IndexByte(s.text[at:limit], '\n')
	if line < 0 {
		return "", 0, false
	}
	name = strings.TrimRight(s.text[at:at+line], " \r")
	return name, at + line + 1, name != "" && !strings.ContainsAny(name, " \t")
}

// part reads what follows a recipient: prose for all, arguments for a tool.
func (s *scan) part(start, at int, name string) bool {
	if name == "all" {
		s.consume(start, at)
		return true
	}
	brace := s.skipBlanks(at)
	if !s.hasAt(brace, "{") {
		end := s.find(">>>", at)
		switch {
		case brace >= s.end && s.cutOff:
			s.lose(start, s.end, StatusTruncated, DefectTruncated)
		case end < 0:
			s.lose(start, s.end, StatusMalformed, DefectUnknownEnvelope)
		default:
			s.lose(start, end, StatusMalformed, DefectUnknownEnvelope)
		}
		return true
	}
	if !s.argumentsOf(start, brace, name, "", "", nil) {
		return true
	}
	end := s.strayClosers(s.pos, ">>>")
	s.afterLast(end)
	if !s.ends(end) && !s.hasAt(s.skipBlanks(end), ">>>") {
		s.mark(len(s.attempts)-1, DefectTrailingText)
	}
	return true
}

func renderFunctionary(calls []renderable) (string, error) {
	return renderEach(calls, "\n", func(c renderable) string { return ">>>" + c.name + "\n" + c.arguments }), nil
}

// Llama 3.1 to 3.3: the content begins with
//
//	{"name": "f", "parameters": {"a": 1}}
//
// or with <|python_tag|> and such objects joined by semicolons.
func llama3JSONForm() form {
	return form{opens: tokenSet(pipePythonTag), read: (*scan).pythonTag, start: (*scan).llamaStart, render: renderLlama3JSON}
}

func llamaStyle(tagged bool) style {
	return style{native: ",type,", tagged: tagged}
}

func (s *scan) pythonTag(m mark) bool {
	at := s.skipBlanks(m.end)
	if !s.hasAt(at, "{") {
		return s.payload(wrapper{at: m.at, body: m.end, one: true, style: llamaStyle(true)})
	}
	return s.joined(m.at, at, llamaStyle(true))
}

// llamaStart reads objects where the content begins.
func (s *scan) llamaStart(at int) bool {
	if !s.hasAt(at, "{") {
		return false
	}
	members, _, _, failure := s.decode(at)
	if failure != nil {
		if !s.startsCall(at) {
			return false
		}
		s.broken(at, at, "", failure)
		return true
	}
	p := llamaStyle(false).sort(members)
	if !s.isCall(p) && !s.isNameOnly(p) {
		return s.bareObject(at)
	}
	return s.joined(at, at, llamaStyle(false))
}

// joined reads objects with semicolons between them.
func (s *scan) joined(start, at int, st style) bool {
	for s.afford() {
		var a Attempt
		if failure := s.object(&a, at, st); failure != nil {
			s.broken(start, at, "", failure)
			return true
		}
		a.Span.Start = min(a.Span.Start, start)
		s.add(&a)
		end := s.strayClosers(a.Span.End, "")
		s.consume(at, end)
		s.afterCall = len(s.segments)
		next := s.skipBlanks(end)
		semicolon := s.hasAt(next, ";")
		if semicolon {
			next = s.skipBlanks(next + 1)
		}
		if !s.hasAt(next, "{") {
			return true
		}
		if !semicolon {
			if members, _, _, failure := s.decode(next); failure != nil || !s.isCall(st.sort(members)) {
				return true
			}
			s.mark(len(s.attempts)-1, DefectSeparator)
		}
		s.drop(next)
		start, at = next, next
	}
	return true
}

func renderLlama3JSON(calls []renderable) (string, error) {
	text := renderEach(calls, "; ", func(c renderable) string { return c.object("name", "parameters") })
	if len(calls) > 1 {
		text = "<|python_tag|>" + text
	}
	return text, nil
}

// GLM-4-0414 has no markers: the name on one line, the arguments on the next,
//
//	f
//	{"a": 1}
//
// and that is the whole content. Since nothing marks it, the line must be
// exactly a declared name. Parallel calls are joined by <|assistant|>.
func glm40414Form() form {
	return form{start: (*scan).glm40414Start, render: renderGLM40414}
}

func (s *scan) glm40414Start(at int) bool {
	saved := *s
	for {
		line := strings.IndexByte(s.text[at:s.end], '\n')
		if line < 0 || !s.isDeclared(strings.TrimRight(s.text[at:at+line], " \r")) {
			break
		}
		name := strings.TrimRight(s.text[at:at+line], " \r")
		brace := s.skipBlanks(at + line)
		if !s.hasAt(brace, "{") {
			break
		}
		if !s.afford() {
			return true
		}
		if !s.argumentsOf(at, brace, name, "", "", nil) {
			return true
		}
		at = s.skipBlanks(s.pos)
		if s.ends(at) {
			return true
		}
		if !s.hasAt(at, "<|assistant|>") {
			break
		}
		at = s.skipBlanks(at + len("<|assistant|>"))
		s.drop(at)
	}
	s.restore(&saved)
	return false
}

func renderGLM40414(calls []renderable) (string, error) {
	return renderEach(calls, "<|assistant|>", func(c renderable) string { return c.name + "\n" + c.arguments }), nil
}
