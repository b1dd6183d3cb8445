package feed_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"toolgym/api/feed"
)

// read reads a feed to its end, from behind the first n events.
func read(f *feed.Feed, n int) (got []string) {
	for {
		events, more := f.After(n)
		for _, e := range events {
			got = append(got, string(e))
		}
		n += len(events)
		if more == nil {
			return got
		}
		<-more
	}
}

// TestReadersSeeAll has readers that come early, late and in the middle.
func TestReadersSeeAll(t *testing.T) {
	const events, readers = 200, 8
	var f feed.Feed
	var group sync.WaitGroup
	for i := range readers {
		group.Go(func() {
			from := i * 20
			got := read(&f, from)
			if len(got) != events-from || got[0] != strconv.Itoa(from) || got[len(got)-1] != strconv.Itoa(events-1) {
				t.Errorf("from %d: %d events, %v", from, len(got), got)
			}
		})
	}
	for n := range events {
		f.Add(fmt.Append(nil, n))
	}
	f.Close()
	f.Close()
	group.Wait()
	if got := read(&f, events+5); len(got) != 0 || f.Len() != events {
		t.Errorf("beyond the end: %v, %d in all", got, f.Len())
	}
}

func TestAnEventAfterTheEndPanics(t *testing.T) {
	var f feed.Feed
	f.Close()
	defer func() {
		if recover() == nil {
			t.Error("it was taken")
		}
	}()
	f.Add(nil)
}
