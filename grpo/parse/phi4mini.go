package parse

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
