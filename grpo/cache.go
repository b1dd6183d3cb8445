package grpo

import (
	"bytes"
	"encoding/json"
	"sync"

	"toolgym/grpo/match"
	"toolgym/tools"
)

// maxCached bounds the tasks that a stream keeps ready. A file with more
// different ones is still scored, only slower.
const maxCached = 1 << 14

// cache keeps the tasks of a stream ready, by the bytes that describe them:
// equal tools are compiled once. It is safe for concurrent use.
type cache struct {
	envs tools.Specs

	mu    sync.RWMutex
	sets  map[string]cachedSet
	tasks map[string]cachedTask
}

type cachedSet struct {
	set tools.Set
	err error
}

type cachedTask struct {
	task *task
	err  error
}

func newCache(envs tools.Specs) *cache {
	return &cache{envs: envs, sets: map[string]cachedSet{}, tasks: map[string]cachedTask{}}
}

// task finds or makes the task of a line.
func (c *cache) task(l *line) (*task, error) {
	switch {
	case l.taskID != "" && (l.tools != nil || l.expected != nil):
		return nil, refuse("/task_id", "either task_id, or tools and expected", "both are given")
	case l.taskID == "" && l.expected == nil:
		return nil, refuse("", "either task_id, or tools and expected", "neither is given")
	}
	var small [2048]byte
	key := append(small[:0], l.taskID...)
	key = append(append(append(key, 0), l.tools...), 0)
	key = append(key, l.expected...)
	c.mu.RLock()
	found, ok := c.tasks[string(key)]
	c.mu.RUnlock()
	if ok {
		return found.task, found.err
	}
	found.task, found.err = c.make(l)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.tasks) >= maxCached {
		clear(c.tasks)
	}
	c.tasks[string(key)] = found
	return found.task, found.err
}

func (c *cache) make(l *line) (*task, error) {
	if l.taskID != "" {
		t, err := playedTask(c.envs, l.taskID)
		return t, within("/task_id", err)
	}
	set, err := c.set(l.tools)
	if err != nil {
		return nil, at("/tools", err)
	}
	expected, err := readExpected(l.expected)
	if err != nil {
		return nil, at("/expected", err)
	}
	return expectedTask(set, expected)
}

// set finds or compiles a list of tools.
func (c *cache) set(text []byte) (tools.Set, error) {
	c.mu.RLock()
	found, ok := c.sets[string(text)]
	c.mu.RUnlock()
	if ok {
		return found.set, found.err
	}
	found.set, found.err = readTools(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sets) >= maxCached {
		clear(c.sets)
	}
	c.sets[string(text)] = found
	return found.set, found.err
}

func readTools(text []byte) (tools.Set, error) {
	var set tools.Set
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, refuse("", "a list of tools", "%v", err)
	}
	return set, set.Validate()
}

func readExpected(text []byte) (match.Expected, error) {
	var expected match.Expected
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&expected); err != nil {
		return expected, refuse("", "calls, order, extra, match and answer", "%v", err)
	}
	return expected, nil
}
