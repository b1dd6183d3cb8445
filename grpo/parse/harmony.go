package parse

import "strings"

// Harmony (gpt-oss): messages with a role, a channel and perhaps a recipient,
//
//	<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>
//
// The recipient may stand in the role part. The prompt ends with
// <|start|>assistant, so a completion starts in the middle of a header.
// Analysis without a recipient is reasoning, final is the answer, commentary
// without a recipient is a preamble and needs one of the others beside it.
func harmonyForm() form {
	return form{opens: tokenSet(harmonyChannel, harmonyStart), read: (*scan).harmony, start: (*scan).harmonyStripped, render: renderHarmony, proseAfter: true}
}

const (
	harmonyMessage = "<|message|>"
	harmonyBegin   = "<|start|>"
	harmonyCall    = "<|call|>"
)

// header is what stands before a message.
type header struct {
	role, channel, recipient string
}

// parseHeader reads the words of a header; special tokens only separate them.
func parseHeader(text string) (h header) {
	text = strings.NewReplacer("<|channel|>", " <|channel|> ", "<|constrain|>", " <|constrain|> ", harmonyBegin, " ").Replace(text)
	channelDue := false
	for word := range strings.FieldsSeq(text) {
		recipient, addressed := strings.CutPrefix(word, "to=")
		switch {
		case word == "<|channel|>":
			channelDue = true
		case word == "<|constrain|>":
			return h
		case addressed && h.recipient == "":
			h.recipient = recipient
		case channelDue && h.channel == "":
			h.channel = word
		case !channelDue && h.role == "":
			h.role = word
		}
	}
	return h
}

// harmony reads all messages from a marker on.
func (s *scan) harmony(m mark) bool {
	if s.family != Harmony && s.find(harmonyMessage, m.at) < 0 {
		return false
	}
	if end := len(strings.TrimRight(s.text, " \n\r\t")); end > s.end && s.begin == 0 {
		s.end, s.memo = end, memo{} // the ends of messages are part of the form
	}
	start := s.headerBefore(m)
	s.show(start)
	first, preamble, final := len(s.attempts), -1, false
	for at := start; at < s.end && !s.stopped && s.afford(); {
		body := s.find(harmonyMessage, at)
		if body < 0 {
			s.headerOnly(at)
			break
		}
		h := parseHeader(s.text[s.headerStart(at, body):body])
		body += len(harmonyMessage)
		switch {
		case h.recipient == "assistant" || strings.HasPrefix(h.role, "functions.") || h.role == "tool":
			s.defects, s.madeUp = with(s.defects, DefectFabricated), Span{at, s.end}
			s.stopped = true
		case h.recipient != "" && h.recipient != "all" && h.recipient != "user":
			at = s.harmonyCall(at, body, h)
		case h.channel == "analysis":
			at = s.harmonyReasoning(body)
		default:
			if h.channel == "commentary" && preamble < 0 {
				preamble = at
			}
			final = final || h.channel != "commentary"
			at = s.harmonyText(body)
		}
	}
	s.pos, s.shown, s.stopped = s.end, s.end, true
	if len(s.attempts) == first && preamble >= 0 && !final {
		s.attempts = append(s.attempts, Attempt{Family: Harmony, Status: StatusMalformed, Defects: []Defect{DefectMissingRecipient},
			Span: Span{preamble, s.end}, Raw: clipRaw(s.text[preamble:s.end])})
	}
	if s.family == Auto {
		s.family = Harmony
	}
	return true
}

// headerBefore finds the role part before a channel, where the completion starts
// inside of it: " to=functions.f<|channel|>…".
func (s *scan) headerBefore(m mark) int {
	before := strings.TrimSpace(s.text[s.shown:m.at])
	if m.token == harmonyChannel && len(before) < maxHeader && strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(before, "assistant")), "to=") {
		return s.shown
	}
	return m.at
}

// headerStart skips text between two messages.
func (s *scan) headerStart(at, body int) int {
	if i := strings.LastIndex(s.text[max(at, body-maxHeader):body], harmonyBegin); i >= 0 {
		return max(at, body-maxHeader) + i
	}
	return max(at, body-maxHeader)
}

// headerOnly deals with a header that has no message.
func (s *scan) headerOnly(at int) {
	h := parseHeader(s.text[max(at, s.end-maxHeader):s.end])
	switch {
	case h.recipient == "":
	case s.cutOff:
		s.lose(at, s.end, StatusTruncated, DefectTruncated)
	default:
		s.lose(at, s.end, StatusUnclosed, DefectUnbalanced)
	}
}

// messageEnd finds the token that ends a message, and what follows it.
func (s *scan) messageEnd(body int) (end, next int, closed bool) {
	end, next = s.end, s.end
	for _, token := range [...]string{"<|end|>", "<|return|>", harmonyCall, harmonyBegin, "<|channel|>"} {
		if at := s.find(token, body); at >= 0 && at < end {
			end, next = at, at+len(token)
			if closed = token[2] != 's' && token != "<|channel|>"; !closed {
				next = at
			}
		}
	}
	return end, next, closed
}

func (s *scan) harmonyReasoning(body int) (next int) {
	end, next, closed := s.messageEnd(body)
	s.reasoning = append(s.reasoning, Span{body, end})
	if !closed && end == s.end {
		s.defects = with(s.defects, DefectReasoningUnclosed)
	}
	return next
}

func (s *scan) harmonyText(body int) (next int) {
	end, next, _ := s.messageEnd(body)
	s.segments = append(s.segments, Span{body, end})
	return next
}

// harmonyCall reads a message to a function.
func (s *scan) harmonyCall(start, body int, h header) (next int) {
	name, function := strings.CutPrefix(h.recipient, "functions.")
	var defects []Defect
	if !function && s.isDeclared(name) {
		defects = with(defects, DefectMalformedID)
	}
	if h.channel != "commentary" {
		defects = with(defects, DefectWrongChannel)
	}
	shown := s.shown
	s.shown = max(shown, start)
	at := s.skipBlanks(body)
	switch end, next, closed := s.messageEnd(body); {
	case s.hasAt(at, "{"):
		if !s.argumentsOf(start, at, name, "", harmonyCall, defects) {
			return s.pos
		}
		s.closeWrapper(s.strayClosers(s.pos, harmonyCall), harmonyCall)
		last := &s.attempts[len(s.attempts)-1]
		if rest := s.skipBlanks(last.Span.End); s.hasAt(rest, "<|end|>") {
			last.Span.End = rest + len("<|end|>")
		}
		return last.Span.End
	case s.blank(body, end) && (closed || !s.cutOff):
		s.add(&Attempt{Name: name, Value: map[string]any{}, Arguments: []byte("{}"), Span: Span{start, next}, Defects: with(defects, DefectArgumentsMissing)})
		return next
	case s.blank(body, end):
		s.lose(start, next, StatusTruncated, DefectTruncated)
		return next
	default:
		s.lose(start, next, StatusInvalidJSON, DefectInvalidJSON)
		return next
	}
}

// harmonyStripped reads a header whose special tokens a server has removed, all or
// some of them, if header and object are the whole content:
//
//	assistantcommentary to=functions.f json{"a": 1}
func (s *scan) harmonyStripped(at int) bool {
	brace := s.find("{", at)
	if brace < 0 || brace-at > maxHeader {
		return false
	}
	var name string
	text := s.text[at:brace]
	if strings.Contains(text, harmonyMessage) {
		return false
	}
	text = strings.TrimSpace(strings.NewReplacer(harmonyBegin, " ", "<|channel|>", " ", "<|constrain|>", " ").Replace(text))
	for _, word := range [...]string{"assistant", "commentary"} {
		text = strings.TrimLeft(strings.TrimPrefix(text, word), " ")
	}
	for word := range strings.FieldsSeq(text) {
		recipient, addressed := strings.CutPrefix(word, "to=functions.")
		switch {
		case addressed && name == "":
			name = recipient
		case word != "commentary" && word != "json" && word != "code":
			return false
		}
	}
	if name == "" {
		return false
	}
	saved := *s
	if s.argumentsOf(at, brace, name, "", "", []Defect{DefectTokensStripped}) {
		if next := s.skipBlanks(s.pos); s.hasAt(next, harmonyCall) {
			s.afterLast(next + len(harmonyCall))
		}
		if !s.ends(s.pos) {
			s.restore(&saved)
			return false
		}
	}
	if s.family == Auto {
		s.family = Harmony
	}
	return true
}

// renderHarmony starts behind <|start|>assistant, which the prompt ends with.
func renderHarmony(calls []renderable) (string, error) {
	return renderEach(calls, "<|start|>assistant", func(c renderable) string {
		return "<|channel|>commentary to=functions." + c.name + " <|constrain|>json" + harmonyMessage + c.arguments + harmonyCall
	}), nil
}
