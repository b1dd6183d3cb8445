package feed

import "sync"

// A Feed is a list of events. The zero Feed is empty and open. It may be used by
// many goroutines; events are not to be changed after they were added.
type Feed struct {
	mu     sync.Mutex
	events [][]byte
	closed bool
	more   chan struct{} // nil while no reader waits
}

// Add adds an event. It panics if the feed is closed.
func (f *Feed) Add(event []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		panic("feed: an event after the end")
	}
	f.events = append(f.events, event)
	f.wake()
}

// Close says that nothing more comes. It may be called again.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.wake()
}

// After returns the events beyond the first n, and a channel that is closed when
// there is more to read or the feed is closed. At the end, when all has been
// read and nothing more comes, the channel is nil.
func (f *Feed) After(n int) (events [][]byte, more <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n < len(f.events) {
		events = f.events[n:len(f.events):len(f.events)]
	}
	if f.closed {
		return events, nil
	}
	if f.more == nil {
		f.more = make(chan struct{})
	}
	return events, f.more
}

// Len is how many events there are.
func (f *Feed) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.events)
}

// wake is called with mu held.
func (f *Feed) wake() {
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}
