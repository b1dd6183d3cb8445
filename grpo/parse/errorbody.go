package parse

import (
	"context"
	"strings"
)

// readError reads the message of a server's error. One that quotes a call which
// the server could not read is the model's malformed output, an attempt of
// tier none; any other is no reading of the model at all.
func (r *Reader) readError(ctx context.Context, text string) Reading {
	reading := Reading{Family: Structured}
	quoted, ok := r.quotedCall(text)
	if ok {
		reading.Attempts = []Attempt{{Family: Structured, Status: StatusInvalidJSON, Defects: []Defect{DefectUnparsable}, Raw: clipRaw(quoted)}}
	} else {
		reading.Failure = &Failure{Kind: errorKind(text), Reason: strings.ToValidUTF8(text[:min(len(text), maxHeader)], "")}
	}
	r.judge(ctx, &reading)
	if !ok {
		reading.Tier, reading.FormatOK = None, false
	}
	return reading
}

// quotedCall finds the call that an error of reading it quotes: Ollama's
// "error parsing tool call: raw='…'", or a known opener or payload behind a
// word like "parse".
func (r *Reader) quotedCall(text string) (string, bool) {
	lower := strings.ToLower(text)
	if !containsAny(lower, "pars", "unmarshal", "decod", "invalid character", "tool call", "tool_call") {
		return "", false
	}
	if _, quoted, ok := strings.Cut(text, "raw='"); ok {
		if end := strings.LastIndex(quoted, "', err="); end >= 0 {
			quoted = quoted[:end]
		}
		return quoted, strings.TrimSpace(quoted) != ""
	}
	s := scan{reader: r, text: text, end: len(text)}
	if m, ok := s.nextMark(0); ok && m.kind == opener {
		return text[m.at:], true
	}
	brace := strings.IndexByte(text, '{')
	if brace >= 0 && (containsAny(text[brace:], `"name"`, `"arguments"`, `"parameters"`) || s.mentions(text[brace:])) {
		return text[brace:], true
	}
	return "", false
}

func containsAny(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// errorKind says whom an error without a quoted call speaks of.
func errorKind(text string) string {
	lower := strings.ToLower(text)
	switch {
	case containsAny(lower, "context length", "context size", "context window", "maximum context", "exceeds the available context", "prompt is too long"):
		return "harness"
	case containsAny(lower, "parsing tool call", "parse tool call", "tool call parser", "tool parser"):
		return "serving"
	}
	return "infrastructure"
}
