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
}

// mostToolsets is how many lists are remembered, far more than a server has.
const mostToolsets = 64

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
	if len(t.known) >= mostToolsets || t.known == nil {
		t.known = map[string]tools.Set{}
	}
	t.known[string(text)] = set
	return set, nil
}
