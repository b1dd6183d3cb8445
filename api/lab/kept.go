package lab

import (
	"context"
	"slices"
	"sync"
	"time"

	"toolgym/grpo"
	"toolgym/tools"
)

// What a model said is kept, since it is dear: a slider that moves scores it
// again, and does not ask for it again.
type kept struct {
	most  int   // episodes of one owner
	bytes int64 // of all owners together

	mu    sync.Mutex
	held  int64
	order []keptKey // the oldest first
	byKey map[keptKey][]grpo.Completion
}

// A keptKey is whose episode it is, of which model, at which task.
type keptKey struct{ owner, server, model, task string }

func newKept(most int, bytes int64) *kept {
	return &kept{most: most, bytes: bytes, byKey: map[keptKey][]grpo.Completion{}}
}

// get returns the episodes of a key, in the order in which they were played.
func (k *kept) get(key keptKey) []grpo.Completion {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.byKey[key])
}

// add appends an episode. The oldest keys make room: the owner's own if the
// owner has too many, those of the owner with the most bytes if there is too
// much in all.
func (k *kept) add(key keptKey, c grpo.Completion) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.byKey[key]; !ok {
		k.order = append(k.order, key)
	}
	k.byKey[key] = append(k.byKey[key], c)
	k.held += sizeOf(c)
	own := func(other keptKey) bool { return other.owner == key.owner && other != key }
	for dropped := true; dropped && k.count(key.owner) > k.most; {
		dropped = k.drop(own)
	}
	for dropped := true; dropped && k.held > k.bytes; {
		most := k.largest(key)
		dropped = k.drop(func(other keptKey) bool { return other.owner == most && other != key })
	}
}

// forget drops the episodes of a key, so that they are played anew.
func (k *kept) forget(key keptKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.drop(func(other keptKey) bool { return other == key })
}

// count is how many episodes an owner has. Called with mu held, as drop is.
func (k *kept) count(owner string) (n int) {
	for key, list := range k.byKey {
		if key.owner == owner {
			n += len(list)
		}
	}
	return n
}

// largest is the owner with the most bytes, those of the given key left out; of
// equal owners, that of the key.
func (k *kept) largest(key keptKey) string {
	held := map[string]int64{}
	for other, list := range k.byKey {
		if other == key {
			continue
		}
		for _, c := range list {
			held[other.owner] += sizeOf(c)
		}
	}
	most := key.owner
	for _, other := range k.order {
		if held[other.owner] > held[most] {
			most = other.owner
		}
	}
	return most
}

// drop drops the oldest key that fits, and reports whether there was one.
func (k *kept) drop(fits func(keptKey) bool) bool {
	i := slices.IndexFunc(k.order, fits)
	if i < 0 {
		return false
	}
	for _, c := range k.byKey[k.order[i]] {
		k.held -= sizeOf(c)
	}
	delete(k.byKey, k.order[i])
	k.order = slices.Delete(k.order, i, i+1)
	return true
}

func sizeOf(c grpo.Completion) int64 {
	n := 0
	for _, message := range c.Messages {
		n += len(message)
	}
	return int64(n)
}

// The bounds of what models play here.
const (
	keptEpisodes = 256 // of one owner
	keptBytes    = 32 << 20
	playsAtOnce  = 2
	turnWithin   = 2 * time.Minute
	playWithin   = 20 * time.Minute
)

// perform lets a model play until n episodes of a task are kept, or plays them
// anew, and reports a failure of its server, which is not kept, as an
// [*tools.Error].
func (l *Lab) perform(ctx context.Context, key keptKey, model served, s scene, n int, anew bool) error {
	release, err := l.playing.Take(key.owner, 1)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, playWithin)
	defer cancel()
	first := len(l.kept.get(key))
	if anew {
		first = 0
	}
	for i := first; i < n; i++ {
		transcript, err := converse(ctx, model, s.spec, s.task, int(s.task.Seed%1_000_000)+i)
		if err != nil {
			return &tools.Error{Code: tools.Unavailable, Message: "the episode was broken off: " + err.Error()}
		}
		if f := transcript.Failure; f != nil && f.Kind == grpo.FailureInfrastructure {
			return &tools.Error{Code: tools.Unavailable, Message: "the Ollama server failed: " + f.Reason, Want: "a server that answers"}
		}
		if anew {
			l.kept.forget(key)
		}
		l.kept.add(key, transcript.Completion())
	}
	return nil
}
