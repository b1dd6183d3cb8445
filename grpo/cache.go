package grpo

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"toolgym/grpo/match"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// maxCached bounds the bytes of the tasks that a stream remembers: those by which
// it finds them again, and what they are made into. A file of more different ones
// is still scored, only slower; a task that takes more alone is not remembered.
const maxCached = 16 << 20

// planTimes is how many times as many bytes as its text a plan takes at most.
const planTimes = 16

// cache keeps the tasks of a stream ready, by the bytes that describe them:
// equal tools are compiled once. It is safe for concurrent use. Two workers may
// make the same thing at the same time; either is as good.
type cache struct {
	scorer *Scorer

	mu    sync.RWMutex
	sets  map[string]made[*toolset] // by tools
	tasks map[string]made[*task]    // by task id, or by tools and what is expected
	bytes int
}

// made is what was made of some bytes, or why nothing could be.
type made[T any] struct {
	value T
	err   error
}

func newCache(s *Scorer) *cache {
	return &cache{scorer: s, sets: map[string]made[*toolset]{}, tasks: map[string]made[*task]{}}
}

// task finds or makes the task of a line.
func (c *cache) task(ctx context.Context, l *line) (*task, error) {
	switch {
	case l.taskID != "" && (l.tools != nil || l.expected != nil):
		return nil, refusal.New("/task_id", "either task_id, or tools and expected", "both are given")
	case l.taskID == "" && l.expected == nil:
		return nil, refusal.New("", "either task_id, or tools and expected", "neither is given")
	case l.taskID != "":
		return remember(c, c.tasks, []byte(l.taskID), 0, func() (*task, error) { return c.scorer.playedTask(l.taskID) }, nil)
	}
	var small [2048]byte
	key := append(append(append(small[:0], l.tools...), 0), l.expected...)
	return remember(c, c.tasks, key, planTimes*len(l.expected), func() (*task, error) {
		set, err := remember(c, c.sets, l.tools, 0, func() (*toolset, error) {
			set, err := readTools(l.tools)
			if err != nil {
				return nil, err
			}
			return c.scorer.toolsets.of(set), nil
		}, func(made *toolset) int { return made.set.Memory() })
		if err != nil {
			return nil, err
		}
		expected, err := readExpected(l.expected)
		if err != nil {
			return nil, refusal.Below("/expected", err)
		}
		return expectedTask(ctx, set, expected)
	}, nil)
}

// remember finds a key in one of the cache's maps, or makes its value, which takes
// a number of bytes, and those that size says where it is given. Everything is
// forgotten when there is too much of it.
func remember[T any](c *cache, known map[string]made[T], key []byte, bytes int, work func() (T, error), size func(T) int) (T, error) {
	c.mu.RLock()
	found, ok := known[string(key)]
	c.mu.RUnlock()
	if ok {
		return found.value, found.err
	}
	found.value, found.err = work()
	bytes += entryBytes + len(key)
	if size != nil && found.err == nil {
		bytes += size(found.value)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := known[string(key)]; ok || bytes > maxCached { // another worker was as fast
		return found.value, found.err
	}
	if c.bytes += bytes; c.bytes > maxCached {
		clear(c.sets)
		clear(c.tasks)
		c.bytes = bytes
	}
	known[string(key)] = found
	return found.value, found.err
}

func readTools(text []byte) (tools.Set, error) {
	var set tools.Set
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, refusal.New("/tools", "a list of tools", "%v", err)
	}
	return set, set.Validate()
}

func readExpected(text []byte) (match.Expected, error) {
	var expected match.Expected
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&expected); err != nil {
		return expected, refusal.New("", "calls, order, extra, match and answer", "%v", err)
	}
	return expected, nil
}
