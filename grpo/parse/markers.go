package parse

import (
	"strings"
)

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

// barMark recognises special tokens, <|word|> and DeepSeek's <｜word｜>.
func barMark(text string) (mark, int) {
	size, ascii := len(fullBar), text[1] == '|'
	if ascii {
		size = 1
	}
	if len(text) < size+2 || !isLetter(text[1+size]) {
		return mark{}, 0
	}
	if m, size := deepSeekMark(text); size > 0 {
		return m, size
	}
	if !ascii {
		return mark{}, 0
	}
	if m, size := gemmaMark(text); size > 0 {
		return m, size
	}
	end := strings.Index(text[2:min(len(text), 64)], "|>")
	if end < 0 {
		return mark{}, 0
	}
	m := specialMark(text[2:2+end], text[end+4:])
	if m.kind == 0 {
		return mark{}, 0
	}
	return m, end + 4
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// specialMark is the marker of the special token <|word|>; rest follows it.
func specialMark(word, rest string) mark {
	m := mark{kind: opener, exact: true}
	switch word {
	case "python_tag":
		m.token = pipePythonTag
	case "python_start":
		m.token, m.closer = pipePythonStart, "<|python_end|>"
	case "tool_call_start":
		m.token, m.closer = pipeToolCallStart, "<|tool_call_end|>"
	case "tool_call":
		m.token = pipeToolCall
	case "START_ACTION":
		m.token, m.closer = pipeStartAction, "<|END_ACTION|>"
	case "tool_calls_section_begin", "tool_call_section_begin":
		m.token, m.exact = kimiSection, word == "tool_calls_section_begin"
	case "tool_call_begin":
		m.token = kimiCall
	case "tool_calls", "function_call", "function_calls":
		m.token = alias
	case "message":
		return mark{}
	case "channel":
		m.token = harmonyChannel
	case "start":
		m.token = harmonyStart
	default:
		return reasonOrResult(word, rest)
	}
	return m
}

// reasonOrResult is the marker of a special token that does not start a call in
// any family's form. One that is not known and stands before an object is
// taken for an alias of a wrapper, like <|python_tag|>.
func reasonOrResult(word, rest string) mark {
	known := knownRole(word, rest)
	payload := strings.TrimLeft(rest[:min(len(rest), maxHeader)], " \n\r\t")
	if known.kind == 0 && (strings.HasPrefix(payload, "{") || strings.HasPrefix(payload, "[{")) {
		return mark{kind: opener, token: alias, exact: true}
	}
	return known
}

// knownRole is the marker of a special token whose meaning is known.
func knownRole(word, rest string) mark {
	role := func(names ...string) mark {
		for _, name := range names {
			if strings.HasPrefix(rest, name) {
				return mark{kind: toolResult}
			}
		}
		return mark{}
	}
	switch word {
	case "START_THINKING":
		return mark{kind: reasoningOpen, closer: "<|END_THINKING|>"}
	case "END_THINKING":
		return mark{kind: reasoningClose}
	case "tool", "tool_response", "tool_result", "tool_results", "tool_outputs", "observation", "START_TOOL_RESULT", "tool_response_start":
		return mark{kind: toolResult}
	case "im_start":
		return role("tool")
	case "im_system":
		return role("tool", "functions.")
	case "start_of_role":
		return role("tool", "tool_response")
	case "start_header_id", "header_start":
		return role("ipython", "tool")
	}
	return mark{}
}

// gemmaMark recognises Gemma 4's tokens, whose bars stand on one side.
func gemmaMark(text string) (mark, int) {
	switch {
	case strings.HasPrefix(text, "<|tool_call>"):
		return mark{kind: opener, token: gemmaToolCall, exact: true, closer: "<tool_call|>"}, len("<|tool_call>")
	case strings.HasPrefix(text, "<|tool_response>"):
		return mark{kind: toolResult}, len("<|tool_response>")
	}
	return mark{}, 0
}

// deepSeekMark recognises DeepSeek's openers and results, in their own
// characters or with ASCII bars and underscores.
func deepSeekMark(text string) (mark, int) {
	word, size, exact := deepSeekToken(text)
	m := mark{kind: opener, exact: exact}
	switch word {
	case "tool calls begin":
		m.token = deepSeekCalls
	case "tool call begin":
		m.token = deepSeekCall
		if !exact && !strings.ContainsAny(text[:size], "▁｜") {
			return mark{}, 0 // <|tool_call_begin|> is Kimi's
		}
	case "tool outputs begin", "tool output begin":
		return mark{kind: toolResult}, size
	default:
		return dsmlMark(text)
	}
	return m, size
}

const (
	fullBar  = "｜"
	lowBlock = "▁"
)

// bar returns the size of a bar at the start of the text, 0 if there is none.
func bar(text string) (size int, exact bool) {
	switch {
	case strings.HasPrefix(text, fullBar):
		return len(fullBar), true
	case strings.HasPrefix(text, "|"):
		return 1, false
	}
	return 0, false
}

// deepSeekToken reads <｜word▁word▁word｜> and returns its words.
func deepSeekToken(text string) (words string, size int, exact bool) {
	if !strings.HasPrefix(text, "<") {
		return "", 0, false
	}
	open, exact := bar(text[1:])
	if open == 0 {
		return "", 0, false
	}
	limit := min(len(text), 64)
	end := strings.IndexByte(text[:limit], '>')
	if end < 0 {
		return "", 0, false
	}
	inner := text[1+open : end]
	body, full := strings.CutSuffix(inner, fullBar)
	if !full {
		var ascii bool
		if body, ascii = strings.CutSuffix(inner, "|"); !ascii {
			return "", 0, false
		}
	}
	if strings.Contains(body, "_") {
		body, exact = strings.ReplaceAll(body, "_", lowBlock), false
	}
	if !strings.HasPrefix(body, "tool") {
		return "", 0, false
	}
	return strings.ReplaceAll(body, lowBlock, " "), end + 1, exact && full
}

// dsmlMark recognises DSML's blocks, <｜DSML｜tool_calls> and <｜DSML｜invoke.
func dsmlMark(text string) (mark, int) {
	name, size, exact := dsmlTag(text)
	m := mark{kind: opener, exact: exact}
	switch name {
	case "tool_calls", "function_calls":
		m.token = dsmlCalls
		if !strings.HasPrefix(text[size:], ">") {
			return mark{}, 0
		}
		size++
	case "invoke":
		m.token = dsmlInvoke
	default:
		return mark{}, 0
	}
	return m, size
}

// dsmlTag reads <｜DSML｜name or </｜DSML｜name and returns the name, with a
// slash in front for a closing tag.
func dsmlTag(text string) (name string, size int, exact bool) {
	at := 1
	slash := ""
	if strings.HasPrefix(text, "</") {
		at, slash = 2, "/"
	} else if !strings.HasPrefix(text, "<") {
		return "", 0, false
	}
	first, exact := bar(text[at:])
	if first == 0 || !strings.HasPrefix(text[at+first:], "DSML") {
		return "", 0, false
	}
	at += first + len("DSML")
	second, full := bar(text[at:])
	if second == 0 {
		return "", 0, false
	}
	at += second
	end := at
	for end < len(text) && (text[end] >= 'a' && text[end] <= 'z' || text[end] == '_') {
		end++
	}
	return slash + text[at:end], end, exact && full
}

// trimTurnEnd cuts the tokens that end a turn, as often as they stand there,
// and the blanks behind the text. Trainers decode with special tokens kept.
func trimTurnEnd(text string) string {
	for {
		end := len(text)
		for end > 0 && isBlank(text[end-1]) {
			end--
		}
		text = text[:end]
		tail := text[max(0, end-longestTurnEnd):]
		tag := tail[strings.LastIndexByte(tail, '<')+1:]
		if len(tag) == len(tail) || !endsTurn(tag) {
			return text
		}
		text = text[:end-len(tag)-1]
	}
}

// longestTurnEnd is the length in bytes of the longest token that ends a turn,
// DeepSeek's.
const longestTurnEnd = len("<｜end▁of▁sentence｜>")

// endsTurn reports whether a token, given without its angle bracket, ends a
// turn.
func endsTurn(token string) bool {
	switch token {
	case "|im_end|>", "|eot_id|>", "|eom_id|>", "/s>", "|endoftext|>", "|eot|>", "|eom|>", "|end_of_text|>",
		"end_of_turn>", "turn|>", "eos>", "｜end▁of▁sentence｜>", "|END_OF_TURN_TOKEN|>", "|end|>", "|return|>",
		"|user|>", "|observation|>", "|tool_response>", "start_function_response>":
		return true
	}
	return false
}
