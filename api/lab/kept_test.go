package lab

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"toolgym/grpo"
)

// spoken is an episode of so many bytes.
func spoken(bytes int) grpo.Completion {
	return grpo.Completion{Messages: []json.RawMessage{json.RawMessage(strings.Repeat("x", bytes))}}
}

func keyed(owner string, task int) keptKey {
	return keptKey{owner, "http://127.0.0.1", "m", fmt.Sprint(task)}
}

func TestKeptEpisodesHaveBounds(t *testing.T) {
	k := newKept(3, 100)
	for i := range 5 {
		k.add(keyed("ann", i), spoken(10))
	}
	if len(k.get(keyed("ann", 1))) != 0 || len(k.get(keyed("ann", 2))) != 1 {
		t.Error("an owner's oldest do not make room")
	}
	k.add(keyed("bob", 0), spoken(80))
	if k.held > 100 || len(k.get(keyed("ann", 2))) != 0 || len(k.get(keyed("bob", 0))) != 1 {
		t.Errorf("%d bytes are held", k.held)
	}
	k.add(keyed("bob", 1), spoken(1000))
	if len(k.get(keyed("bob", 1))) != 1 || len(k.order) != 1 {
		t.Errorf("what was just played is not there, or with %d others", len(k.order)-1)
	}
	k.forget(keyed("bob", 1))
	if k.held != 0 || len(k.order) != 0 || len(k.byKey) != 0 {
		t.Errorf("after all is forgotten %d bytes are held", k.held)
	}
}

func TestKeptEpisodesBelongToTheirOwner(t *testing.T) {
	k := newKept(keptEpisodes, keptBytes)
	k.add(keyed("ann", 0), spoken(1))
	k.add(keyed("ann", 0), spoken(2))
	if got := k.get(keyed("ann", 0)); len(got) != 2 || len(got[0].Messages[0]) != 1 {
		t.Errorf("%d episodes", len(got))
	}
	if got := k.get(keyed("bob", 0)); got != nil {
		t.Errorf("bob sees %d of ann's", len(got))
	}
}

func TestKeptEpisodesFromManyGoroutines(t *testing.T) {
	k := newKept(8, 1000)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 50 {
				k.add(keyed(fmt.Sprint(i%3), n), spoken(n))
				k.get(keyed("0", n))
			}
		})
	}
	all.Wait()
	if k.held > 1000 || len(k.order) != len(k.byKey) {
		t.Errorf("%d bytes in %d keys, %d in order", k.held, len(k.byKey), len(k.order))
	}
}

// TestKeptEpisodesOfOthersStay while one owner fills the memory.
func TestKeptEpisodesOfOthersStay(t *testing.T) {
	k := newKept(100, 100)
	k.add(keyed("bob", 0), spoken(40))
	for i := range 50 {
		k.add(keyed("ann", i), spoken(10))
	}
	if len(k.get(keyed("bob", 0))) != 1 || len(k.get(keyed("ann", 49))) != 1 || k.held > 100 {
		t.Errorf("bob has %d, ann's last %d, %d bytes are held", len(k.get(keyed("bob", 0))), len(k.get(keyed("ann", 49))), k.held)
	}
}
