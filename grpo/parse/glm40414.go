package parse

import "strings"

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
