package parse

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
