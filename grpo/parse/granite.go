package parse

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
