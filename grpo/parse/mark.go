package parse

import "strings"

// markKind says what a marker does to the reading.
type markKind uint8

const (
	opener         markKind = iota + 1 // may start an attempt
	reasoningOpen                      // <think>
	reasoningClose                     // </think>
	toolResult                         // <tool_response>: written by the model, it is made up
	codeFence                          // ``` at the start of a line
)

// token names an opener.
type token uint8

const (
	_ token = iota
	tagToolCall
	tagFunctionEquals
	tagParameterEquals
	tagArgKey
	tagFunctionCalls
	pipePythonTag
	pipePythonStart
	pipeToolCallStart
	pipeToolCall
	bracketToolCalls
	wordFunctools
	chevrons
	pipeStartAction
	deepSeekCalls
	deepSeekCall
	dsmlCalls
	dsmlInvoke
	kimiSection
	kimiCall
	gemmaToolCall
	gemmaFunctionCall
	harmonyChannel
	harmonyStart
	alias
)

// tokens is a set of openers.
type tokens uint64

func tokenSet(list ...token) tokens {
	var set tokens
	for _, t := range list {
		set |= 1 << t
	}
	return set
}

func (set tokens) has(t token) bool { return set&(1<<t) != 0 }

// mark is a marker that stands in the text.
type mark struct {
	kind    markKind
	token   token
	at, end int
	exact   bool   // false for special tokens in other characters
	closer  string // reasoning: what ends it; alias: its closing tag
}

// markAt recognises the marker that starts at an offset.
func (s *scan) markAt(i int) (m mark, ok bool) {
	if i >= s.end {
		return mark{}, false
	}
	var size int
	rest := s.text[i:s.end]
	switch rest[0] {
	case '<':
		m, size = angleMark(rest)
	case '[':
		m, size = bracketMark(rest)
	case '`':
		m, size = fenceMark(s.text[:s.end], i, s.begin)
	case 'f':
		if strings.HasPrefix(rest, "functools[") {
			m, size = mark{kind: opener, token: wordFunctools, exact: true}, len("functools")
		}
	case '>':
		if strings.HasPrefix(rest, ">>>") && (i == s.begin || s.text[i-1] == '\n' || s.family == Functionary) {
			m, size = mark{kind: opener, token: chevrons, exact: true}, len(">>>")
		}
	}
	m.at, m.end = i, i+size
	return m, size > 0
}

// nextMarkOffset is the offset of the next marker, or the end of the text.
func (s *scan) nextMarkOffset(from int) int {
	if m, ok := s.nextMark(from); ok {
		return m.at
	}
	return s.end
}

func bracketMark(text string) (mark, int) {
	switch {
	case strings.HasPrefix(text, "[TOOL_CALLS]"):
		return mark{kind: opener, token: bracketToolCalls, exact: true}, len("[TOOL_CALLS]")
	case strings.HasPrefix(text, "[THINK]"):
		return mark{kind: reasoningOpen, closer: "[/THINK]"}, len("[THINK]")
	case strings.HasPrefix(text, "[/THINK]"):
		return mark{kind: reasoningClose}, len("[/THINK]")
	case strings.HasPrefix(text, "[TOOL_RESULTS]"):
		return mark{kind: toolResult}, len("[TOOL_RESULTS]")
	}
	return mark{}, 0
}

// fenceMark recognises ``` at the start of a line.
func fenceMark(text string, at, begin int) (mark, int) {
	if !strings.HasPrefix(text[at:], "```") {
		return mark{}, 0
	}
	for at > begin && (text[at-1] == ' ' || text[at-1] == '\t') {
		at--
	}
	if at > begin && text[at-1] != '\n' {
		return mark{}, 0
	}
	return mark{kind: codeFence}, 3
}

// angleMark recognises the markers that start with an angle bracket.
func angleMark(text string) (mark, int) {
	if len(text) < 2 {
		return mark{}, 0
	}
	switch c := text[1]; {
	case c == '|' || c == 0xEF: // the full-width bar starts with this byte
		return barMark(text)
	case c == '/':
		return closerMark(text)
	case c >= 'a' && c <= 'z':
		return tagMark(text)
	}
	return mark{}, 0
}

// closerMark recognises the ends of reasoning.
func closerMark(text string) (mark, int) {
	for _, closer := range [...]string{"</think>", "</thinking>", "</thought>"} {
		if strings.HasPrefix(text, closer) {
			return mark{kind: reasoningClose}, len(closer)
		}
	}
	return mark{}, 0
}

// tagMark recognises tags: a word, and what may follow it.
func tagMark(text string) (mark, int) {
	end := 1
	for end < len(text) && end < 32 && (text[end] >= 'a' && text[end] <= 'z' || text[end] == '_') {
		end++
	}
	if end == len(text) {
		return mark{}, 0
	}
	word, after := text[1:end], text[end]
	m := mark{kind: opener, exact: true}
	switch {
	case word == "function" && after == '=':
		m.token = tagFunctionEquals
	case word == "parameter" && after == '=':
		m.token = tagParameterEquals
	case after != '>':
		return mark{}, 0
	default:
		if m = wordMark(word); m.kind == 0 {
			return mark{}, 0
		}
	}
	return m, end + 1
}

// wordMark is the marker of a plain tag; one without kind is none.
func wordMark(word string) mark {
	m := mark{kind: opener, exact: true}
	switch word {
	case "tool_call":
		m.token, m.closer = tagToolCall, "</tool_call>"
	case "function_calls":
		m.token, m.closer = tagFunctionCalls, "</function_calls>"
	case "arg_key":
		m.token = tagArgKey
	case "start_function_call":
		m.token, m.closer = gemmaFunctionCall, "<end_function_call>"
	case "tool_calls", "tools", "tool", "function", "functions", "function_call", "call", "tool_use", "tool_code", "invoke", "action", "json":
		m.token, m.closer = alias, "</"+word+">"
	case "think":
		return mark{kind: reasoningOpen, closer: "</think>"}
	case "thinking":
		return mark{kind: reasoningOpen, closer: "</thinking>"}
	case "thought":
		return mark{kind: reasoningOpen, closer: "</thought>"}
	case "tool_response", "tool_result", "tool_responses", "tool_results", "tool_output", "tool_outputs", "function_response",
		"function_responses", "function_result", "function_results", "start_function_response":
		return mark{kind: toolResult}
	default:
		return mark{}
	}
	return m
}
