package parse

// FunctionGemma: like Gemma 4 with other tokens,
//
//	<start_function_call>call:f{a:<escape>text<escape>,b:2}<end_function_call>
func functionGemmaForm() form {
	return form{opens: tokenSet(gemmaFunctionCall), read: (*scan).functionGemma, render: renderFunctionGemma}
}

func (s *scan) functionGemma(m mark) bool { return s.gemma(m, "<escape>") }

func renderFunctionGemma(calls []renderable) (string, error) {
	return renderGemma(calls, "<start_function_call>", "<escape>", "<end_function_call>")
}
