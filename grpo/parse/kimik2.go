package parse

import (
	"strconv"
	"strings"
)

// Kimi K2: a section of calls, each with an identifier that holds the name,
//
//	<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_calls_section_end|>
//
// The prefix "functions." and the index are no part of the name.
func kimiK2Form() form {
	return form{opens: tokenSet(kimiSection, kimiCall), read: (*scan).kimiK2, render: renderKimiK2}
}

const (
	kimiCallOpen     = "<|tool_call_begin|>"
	kimiArguments    = "<|tool_call_argument_begin|>"
	kimiCallClose    = "<|tool_call_end|>"
	kimiSectionClose = "<|tool_calls_section_end|>"
)

func (s *scan) kimiK2(m mark) bool {
	first, at, start := len(s.attempts), m.end, m.at
	if m.token == kimiCall {
		at = m.at
	}
	for s.hasAt(s.skipBlanks(at), kimiCallOpen) && s.afford() {
		at = s.kimiCall(start, s.skipBlanks(at)+len(kimiCallOpen))
		start = at
	}
	if len(s.attempts) == first {
		return s.cutHeader(m, m.end)
	}
	if !m.exact {
		s.mark(first, DefectTokenLookalike)
	}
	if m.token == kimiCall {
		s.mark(first, DefectMissingOpenTag)
	}
	next := s.skipBlanks(at)
	switch {
	case s.hasAt(next, kimiSectionClose):
		s.afterLast(next + len(kimiSectionClose))
	case s.hasAt(next, "<|tool_call_section_end|>"):
		s.afterLast(next + len("<|tool_call_section_end|>"))
		s.mark(first, DefectTokenLookalike)
	case m.token == kimiSection:
		s.mark(len(s.attempts)-1, DefectMissingCloseTag)
	}
	return true
}

// kimiCall reads one call behind its opening token and returns where the reading
// goes on.
func (s *scan) kimiCall(start, from int) int {
	at := s.find(kimiArguments, from)
	if at < 0 || at-from > maxHeader {
		s.unfinished(start, from, kimiCallOpen, kimiCallClose)
		return s.pos
	}
	id := strings.TrimSpace(s.text[from:at])
	name, defects := kimiName(id)
	brace := s.skipBlanks(at + len(kimiArguments))
	if !s.argumentsOf(start, brace, name, id, kimiCallClose, defects) {
		return s.pos
	}
	last := len(s.attempts) - 1
	s.closeWrapper(s.strayClosers(s.pos, kimiCallClose), kimiCallClose)
	return s.attempts[last].Span.End
}

// kimiName takes functions.NAME:INDEX apart.
func kimiName(id string) (name string, defects []Defect) {
	name, prefixed := strings.CutPrefix(id, "functions.")
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 || strings.Trim(name[colon+1:], "0123456789") != "" || colon == len(name)-1 {
		return name, []Defect{DefectMalformedID}
	}
	if name = name[:colon]; !prefixed {
		defects = []Defect{DefectMalformedID}
	}
	return name, defects
}

func renderKimiK2(calls []renderable) (string, error) {
	index := -1
	return "<|tool_calls_section_begin|>" + renderEach(calls, "", func(c renderable) string {
		index++
		return kimiCallOpen + "functions." + c.name + ":" + strconv.Itoa(index) + kimiArguments + c.arguments + kimiCallClose
	}) + kimiSectionClose, nil
}
