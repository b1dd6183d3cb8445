package parse

// DeepSeek V3.1: the same tokens as before, without type word and fence,
//
//	<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
func deepSeekV31Form() form {
	return form{opens: tokenSet(deepSeekCalls, deepSeekCall, kimiCall), read: (*scan).deepSeekV31, render: renderDeepSeekV31}
}

func (s *scan) deepSeekV31(m mark) bool { return s.deepSeek(m, false) }

func renderDeepSeekV31(calls []renderable) (string, error) {
	return "<｜tool▁calls▁begin｜>" + renderEach(calls, "", func(c renderable) string {
		return "<｜tool▁call▁begin｜>" + c.name + "<｜tool▁sep｜>" + c.arguments + "<｜tool▁call▁end｜>"
	}) + "<｜tool▁calls▁end｜>", nil
}
