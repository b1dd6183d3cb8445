package parse

import "strings"

// sniff says which family an opener belongs to. Several share one: then what
// follows it decides, in the fixed order of the cases.
func (s *scan) sniff(m mark) Family {
	switch m.token {
	case tagToolCall:
		return s.sniffToolCall(m)
	case tagFunctionEquals, tagParameterEquals:
		return Qwen3Coder
	case tagArgKey:
		return GLM45
	case tagFunctionCalls:
		return Olmo3
	case pipePythonTag:
		return Llama3JSON
	case pipePythonStart:
		return Llama4
	case pipeToolCallStart:
		return LFM2
	case pipeToolCall:
		return Granite
	case bracketToolCalls:
		return Mistral
	case wordFunctools:
		return Phi4Mini
	case chevrons:
		return Functionary
	case pipeStartAction:
		return Command
	case deepSeekCalls, deepSeekCall:
		return s.sniffDeepSeek(m)
	case dsmlCalls, dsmlInvoke:
		return DeepSeekV32
	case kimiSection, kimiCall:
		return KimiK2
	case gemmaToolCall:
		return Gemma4
	case gemmaFunctionCall:
		return FunctionGemma
	case harmonyChannel, harmonyStart:
		return Harmony
	}
	return Hermes
}

func (s *scan) sniffToolCall(m mark) Family {
	at := s.skipBlanks(m.end)
	switch {
	case s.hasAt(at, functionOpen), s.hasAt(at, parameterOpen):
		return Qwen3Coder
	case s.hasAt(at, "{"), s.hasAt(at, "["), s.hasAt(at, "```"):
		return Hermes
	}
	if _, _, ok := s.glmName(m.end); ok {
		return GLM45
	}
	return Hermes
}

// sniffDeepSeek tells the form with a type word and a fence from the later one.
func (s *scan) sniffDeepSeek(m mark) Family {
	at := s.skipBlanks(m.end)
	if words, size, _ := deepSeekToken(s.text[at:s.end]); words == "tool call begin" {
		at += size
	}
	if word, ok := strings.CutPrefix(s.text[at:s.end], "function"); ok && strings.HasPrefix(word, "<") {
		return DeepSeekR1
	}
	return DeepSeekV31
}

// lastResort looks at a text without any attempt once more: for a list of calls
// behind prose, and for what looks like a call in no form that is read here.
func (s *scan) lastResort() {
	if (s.family == Auto || formOf(s.family).calls) && s.trailingCalls() {
		return
	}
	at, end, ok := s.unknownCall()
	if !ok {
		return
	}
	s.attempts = append(s.attempts, Attempt{Family: s.family, Status: StatusMalformed, Defects: []Defect{s.unknownForm()},
		Span: Span{at, end}, Raw: clipRaw(s.text[at:end])})
}

// unknownCall finds a declared name where only a call would put it: as a tag,
// as an attribute, or behind the word of an agent's protocol. Fences with prose
// around them are left out.
func (s *scan) unknownCall() (at, end int, ok bool) {
	from := s.begin
	if n := len(s.reasoning); n > 0 {
		from = s.reasoning[n-1].End
	}
	documented := s.documented
	for i := from; i < s.end; i++ {
		for len(documented) > 0 && i >= documented[0].End {
			documented = documented[1:]
		}
		if s.namesTool(i, i == from || s.text[i-1] == '\n') && (len(documented) == 0 || i < documented[0].Start) {
			return i, s.end, true
		}
	}
	return 0, 0, false
}

// namesTool reports a declared name in the place of a tag's, <f>, <f a="1"> or
// <|f|>, of an attribute's, name="f", of a recipient's, to=functions.f, or behind
// a word at the start of a line, "Action: f".
func (s *scan) namesTool(at int, lineStart bool) bool {
	var before, after string
	switch s.text[at] {
	case '<':
		before, after = "<", "> /"
		if s.hasAt(at, "<|") {
			before, after = "<|", "|"
		}
	case 'n':
		before, after = "name=", "\"'"
		if !s.hasAt(at, before) || !s.hasAt(at+len(before), `"`) && !s.hasAt(at+len(before), "'") {
			return false
		}
		at++ // the quote
	case 't':
		if before = "to=functions."; !s.hasAt(at, before) {
			return false
		}
	case 'A', 'T', 'F', 'C':
		if before = protocolWord(s.text[at:s.end]); before == "" || !lineStart {
			return false
		}
	default:
		return false
	}
	start := at + len(before)
	end := start
	for end < s.end && end < start+maxHeader && isNameByte(s.text[end]) {
		end++
	}
	followed := after == "" || end < s.end && strings.IndexByte(after, s.text[end]) >= 0
	return followed && s.isDeclared(s.text[start:end])
}

// protocolWord is the word with which a line of an agent's protocol starts.
func protocolWord(line string) string {
	for _, word := range [...]string{"Action: ", "Tool: ", "Function: ", "Tool call: ", "Tool Call: ", "Call: "} {
		if strings.HasPrefix(line, word) {
			return word
		}
	}
	return ""
}
