package parse

// LFM2: the pythonic list between two tokens,
//
//	<|tool_call_start|>[f(a=1), g()]<|tool_call_end|>
//
// Prose may stand on either side; the model's own template shows it behind.
func lfm2Form() form {
	return form{opens: tokenSet(pipeToolCallStart), read: (*scan).callsBetween, render: renderLFM2, calls: true, proseAfter: true}
}

func renderLFM2(calls []renderable) (string, error) {
	list, err := renderPythonic(calls)
	return "<|tool_call_start|>" + list + "<|tool_call_end|>", err
}
