package parse

import "strings"

// OLMo 3: call expressions, one a line,
//
//	<function_calls>
//	f(a=1)
//	g()
//	</function_calls>
func olmo3Form() form {
	return form{opens: tokenSet(tagFunctionCalls), read: (*scan).olmo3, render: renderOlmo3, calls: true}
}

func (s *scan) olmo3(m mark) bool {
	at := s.skipBlanks(m.end)
	first := len(s.attempts)
	var end int
	var ok bool
	switch {
	case s.expressionName(at) != "":
		end, ok = s.callLines(m.at, at, m.closer)
	case s.startsCalls(at):
		end, ok = s.callList(m.at, at, m.closer)
		s.mark(first, DefectArrayInTag)
	default:
		return false
	}
	if ok {
		s.closeWrapper(end, m.closer)
	}
	return true
}

func renderOlmo3(calls []renderable) (string, error) {
	var b strings.Builder
	for _, c := range calls {
		line, err := c.expression()
		if err != nil {
			return "", err
		}
		b.WriteString(line + "\n")
	}
	return "<function_calls>\n" + b.String() + "</function_calls>", nil
}
