package client

import (
	"encoding/json"
	"sync"

	"toolgym/tools"
)

// toolsets remembers the tool lists that have been read. Every episode of a
// level brings the same bytes, and compiling its schemas again would take
// longer than playing it.
type toolsets struct {
	mu    sync.Mutex
	known map[string]tools.Set
	bytes int
}

// mostBytes bounds what is remembered: the texts of lists and what they compile to.
// A list that takes more alone is not remembered.
const mostBytes = 64 << 20

// decode reads a tool list. The set may be shared: it is not to be changed.
func (t *toolsets) decode(text json.RawMessage) (tools.Set, error) {
	t.mu.Lock()
	set, ok := t.known[string(text)]
	t.mu.Unlock()
	if ok {
		return set, nil
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	size := len(text) + set.Memory()
	if _, ok := t.known[string(text)]; ok || size > mostBytes {
		return set, nil
	}
	if t.bytes += size; t.bytes > mostBytes || t.known == nil {
		t.known, t.bytes = map[string]tools.Set{}, size
	}
	t.known[string(text)] = set
	return set, nil
}
