package parse

import (
	"iter"
	"strings"
)

// memo is what is known about the text between the bounds of a scan, so that a
// question which is asked at many offsets is answered in linear time in all.
type memo struct {
	found []search
	next  foundMark
	blank Span // the last long run of blanks
}

// search remembers that a word stands at an offset, or nowhere behind from if
// that is -1, and not between from and there.
type search struct {
	word     string
	from, at int
}

// foundMark remembers a marker in the same way.
type foundMark struct {
	known    bool
	chevrons bool // whether chevrons within a line were looked for
	from     int
	mark     mark
	ok       bool
}

// find returns the offset of the first occurrence of a word at or after from,
// or -1.
func (s *scan) find(word string, from int) int {
	if from > s.end {
		return -1
	}
	for i := range s.memo.found {
		f := &s.memo.found[i]
		if f.word != word {
			continue
		}
		switch {
		case from < f.from:
			// It is only unknown whether the word starts before f.from.
			if at := s.index(word, from, min(s.end, f.from+len(word)-1)); at >= 0 {
				f.at = at
			}
			f.from = from
		case f.at >= 0 && f.at < from:
			f.from, f.at = from, s.index(word, from, s.end)
		}
		return f.at
	}
	at := s.index(word, from, s.end)
	s.memo.found = append(s.memo.found, search{word, from, at})
	return at
}

// index searches text[from:end].
func (s *scan) index(word string, from, end int) int {
	if i := strings.Index(s.text[from:end], word); i >= 0 {
		s.budget.search(i)
		return from + i
	}
	s.budget.search(end - from)
	return -1
}

// nextMark finds the first marker at or after an offset.
func (s *scan) nextMark(from int) (mark, bool) {
	n, chevrons, end := &s.memo.next, s.family == Functionary, s.end
	if n.known && n.chevrons == chevrons {
		switch {
		case from < n.from:
			end = min(s.end, n.from) // it is only unknown what stands before
		case !n.ok || from <= n.mark.at:
			return n.mark, n.ok
		}
	}
	m, ok := s.scanMark(from, end)
	if ok || end == s.end {
		n.mark, n.ok = m, ok
	}
	n.known, n.chevrons, n.from = true, chevrons, from
	return n.mark, n.ok
}

// scanMark finds the first marker that starts in text[from:end].
func (s *scan) scanMark(from, end int) (mark, bool) {
	for i := from; i < end; i++ {
		switch s.text[i] {
		case '<', '[', '`', 'f', '>':
			if m, ok := s.markAt(i); ok {
				s.budget.search(i - from)
				return m, true
			}
		}
	}
	s.budget.search(max(0, end-from))
	return mark{}, false
}

// shortRun is the length up to which blanks are skipped without remembering it.
const shortRun = 64

// skipBlanks returns the offset of the first byte at or after an offset that is
// not blank.
func (s *scan) skipBlanks(at int) int {
	limit := min(s.end, at+shortRun)
	for at < limit && isBlank(s.text[at]) {
		at++
	}
	if at < limit || at >= s.end {
		return at
	}
	run := &s.memo.blank
	if at < run.Start || at >= run.End {
		run.Start, run.End = at, at
		for run.End < s.end && isBlank(s.text[run.End]) {
			run.End++
		}
		s.budget.search(run.End - at)
	}
	return run.End
}

// matcher reports whether a text contains one of many words, by the algorithm of
// Aho and Corasick: the time does not depend on the number of words.
type matcher struct{ nodes []matchNode }

// matchNode is a prefix of words.
type matchNode struct {
	edges []matchEdge
	fail  int32 // the longest proper suffix that is a prefix of a word too
	word  bool  // a word ends here
}

type matchEdge struct {
	c  byte
	to int32
}

func newMatcher(words iter.Seq[string]) *matcher {
	m := &matcher{nodes: make([]matchNode, 1)}
	for word := range words {
		at := int32(0)
		for i := range len(word) {
			next := m.next(at, word[i])
			if next == 0 {
				next = int32(len(m.nodes))
				m.nodes[at].edges = append(m.nodes[at].edges, matchEdge{word[i], next})
				m.nodes = append(m.nodes, matchNode{})
			}
			at = next
		}
		m.nodes[at].word = true
	}
	queue := []int32{0}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for _, e := range m.nodes[at].edges {
			node := &m.nodes[e.to]
			if at != 0 {
				node.fail = m.step(m.nodes[at].fail, e.c)
			}
			node.word = node.word || m.nodes[node.fail].word
			queue = append(queue, e.to)
		}
	}
	return m
}

// next is the prefix that one more byte makes, 0 where there is none.
func (m *matcher) next(at int32, c byte) int32 {
	for _, e := range m.nodes[at].edges {
		if e.c == c {
			return e.to
		}
	}
	return 0
}

// step is the longest prefix at the end of a text that goes on with a byte.
func (m *matcher) step(at int32, c byte) int32 {
	for {
		if next := m.next(at, c); next != 0 || at == 0 {
			return next
		}
		at = m.nodes[at].fail
	}
}

// in reports whether one of the words is in the text.
func (m *matcher) in(text string) bool {
	at := int32(0)
	for i := 0; i < len(text) && !m.nodes[at].word; i++ {
		at = m.step(at, text[i])
	}
	return m.nodes[at].word
}
