package parse

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
