package grpo

import (
	"sync"

	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// A toolset is the tools of a task made ready: for reading, and for what is
// expected of them. It is safe for concurrent use.
type toolset struct {
	set     tools.Set
	reader  *parse.Reader
	offered *match.Offered
}

func newToolset(set tools.Set) *toolset {
	return &toolset{set: set, reader: parse.NewReader(set), offered: match.Offer(set)}
}

// maxRemembered bounds the bytes of toolsets that are remembered: the names and
// schemas by which they are found again, and what those compile to. A toolset that
// takes more alone is not remembered.
const maxRemembered = 64 << 20

// entryBytes is what an entry of a map takes beside.
const entryBytes = 512

// toolsets remembers toolsets by what their tools are called and declare, so that
// the groups of a request, and one request after another, share them. It is safe
// for concurrent use.
type toolsets struct {
	mu    sync.RWMutex
	known map[string]*toolset
	bytes int
}

// of finds or makes the toolset of a list of tools.
func (t *toolsets) of(set tools.Set) *toolset {
	var small [2048]byte
	key := small[:0]
	for i := range set {
		key = append(append(append(append(key, set[i].Name...), 0), set[i].Parameters...), 0)
	}
	t.mu.RLock()
	found := t.known[string(key)]
	t.mu.RUnlock()
	if found != nil {
		return found
	}
	made := newToolset(set)
	t.mu.Lock()
	defer t.mu.Unlock()
	size := entryBytes + len(key) + set.Memory()
	if known := t.known[string(key)]; known != nil { // another request was as fast
		return known
	}
	if size > maxRemembered {
		return made
	}
	if t.bytes += size; t.known == nil || t.bytes > maxRemembered {
		t.known, t.bytes = map[string]*toolset{}, size
	}
	t.known[string(key)] = made
	return made
}
