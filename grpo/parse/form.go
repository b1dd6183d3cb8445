package parse

// form is how one family writes calls. Each family's file makes its own.
type form struct {
	// opens are the markers that start an attempt in the family's form.
	opens tokens

	// read reads the attempt at one of them. It answers false, having changed
	// nothing but the list of attempts, when there is no attempt in the
	// family's form: the marker is then text, or another family's.
	read func(s *scan, m mark) bool

	// start reads a form without markers where the content begins.
	start func(s *scan, at int) bool

	// render writes calls in the native form.
	render func(calls []renderable) (string, error)

	calls      bool // the payload is call expressions, f(a=1), and not JSON
	proseAfter bool // the form allows text behind the last call
}

// formOf is the table of families.
func formOf(f Family) form {
	switch f {
	case Hermes:
		return hermesForm()
	case Qwen3Coder:
		return qwen3CoderForm()
	case Llama3JSON:
		return llama3JSONForm()
	case Pythonic:
		return pythonicForm()
	case Llama4:
		return llama4Form()
	case LFM2:
		return lfm2Form()
	case Olmo3:
		return olmo3Form()
	case Mistral:
		return mistralForm()
	case Granite:
		return graniteForm()
	case Phi4Mini:
		return phi4MiniForm()
	case Functionary:
		return functionaryForm()
	case Command:
		return commandForm()
	case GLM45:
		return glm45Form()
	case GLM40414:
		return glm40414Form()
	case DeepSeekR1:
		return deepSeekR1Form()
	case DeepSeekV31:
		return deepSeekV31Form()
	case DeepSeekV32:
		return deepSeekV32Form()
	case KimiK2:
		return kimiK2Form()
	case Gemma4:
		return gemma4Form()
	case FunctionGemma:
		return functionGemmaForm()
	case Harmony:
		return harmonyForm()
	}
	return form{}
}
