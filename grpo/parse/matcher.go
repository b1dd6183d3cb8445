package parse

import "iter"

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
